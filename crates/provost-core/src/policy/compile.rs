//! From policies as written to a [`PolicySet`]: globs and expressions are read once, and every error is
//! reported with its place, not the first only.

use std::{ops::Range, sync::Arc};

use provost_abl::expr::{self, Expr, ExprKind, Program, Span, Step};

use super::{
    Policy, PolicySet, Rule,
    facts::COMPUTED,
    lint::ALWAYS_SET,
    scope::{ROOTS, TEXTS},
    set::{CompiledPolicy, CompiledRule, Test},
    shape,
};
use crate::glob::{Glob, GlobIndex};

/// Where an error stands: which policy, rule and entry of its `tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Agent {
        policy: usize,
    },
    Tool {
        policy: usize,
        rule: usize,
        tool: usize,
    },
    When {
        policy: usize,
        rule: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CompileError {
    pub place: Place,
    pub message: String,
    pub help: Option<String>,
    /// Bytes of the expression, for errors inside one.
    pub span: Option<Range<usize>>,
}

pub type PolicyError = Vec<CompileError>;

/// Exact names first, then globs, then everything; as written among equals.
fn specificity(agent: &Glob) -> u8 {
    match agent {
        glob if glob.is_everything() => 2,
        glob if glob.is_literal() => 0,
        _ => 1,
    }
}

impl PolicySet {
    pub fn compile(policies: Vec<Policy>) -> Result<Self, PolicyError> {
        let mut errors = Vec::new();
        let mut compiled = Vec::new();
        for (at, policy) in policies.iter().enumerate() {
            let agent = read_glob(&policy.agent, Place::Agent { policy: at }, &mut errors);
            let rules = compile_rules(at, policy, &mut errors);
            if let Some(agent) = agent {
                compiled.push((specificity(&agent), agent, at, rules));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        compiled.sort_by_key(|(specificity, _, at, _)| (*specificity, *at));
        let mut agents = GlobIndex::default();
        let mut ordered = Vec::new();
        for (rank, (_, agent, at, (rules, tools))) in compiled.into_iter().enumerate() {
            agents.insert(agent.clone(), rank as u32);
            let Some(policy) = policies.get(at) else {
                continue;
            };
            ordered.push(CompiledPolicy {
                name: policy.name.clone(),
                agent,
                rate_limit: policy.rate_limit,
                written_at: at,
                rules,
                tools,
            });
        }
        Ok(Self::from_parts(policies, ordered, agents))
    }
}

fn compile_rules(
    at: usize,
    policy: &Policy,
    errors: &mut PolicyError,
) -> (Vec<CompiledRule>, GlobIndex) {
    let mut index = GlobIndex::default();
    let mut rules = Vec::new();
    for (number, rule) in policy.rules.iter().enumerate() {
        let mut globs = Vec::new();
        for (tool, source) in rule.tools.iter().enumerate() {
            let place = Place::Tool {
                policy: at,
                rule: number,
                tool,
            };
            if let Some(glob) = read_glob(source, place, errors) {
                index.insert(glob.clone(), number as u32);
                globs.push(glob);
            }
        }
        let tests = compile_tests(
            rule,
            &Place::When {
                policy: at,
                rule: number,
            },
            errors,
        );
        let name: Arc<str> = format!("{}:rule-{}", policy.name, number + 1).into();
        let reason = format!(
            "policy `{}`, rule {} says {}",
            policy.name,
            number + 1,
            rule.action
        );
        rules.push(CompiledRule {
            verdict: rule.action,
            name,
            reason: reason.into(),
            globs,
            tests,
        });
    }
    (rules, index)
}

fn compile_tests(rule: &Rule, place: &Place, errors: &mut PolicyError) -> Vec<Test> {
    let mut tests = Vec::new();
    if let Some(condition) = &rule.condition {
        tests.push(Test::Condition(condition.clone()));
    }
    if let Some(source) = &rule.when {
        match compile_when(source) {
            Ok(program) => tests.push(Test::When(program)),
            Err(found) => errors.extend(found.into_iter().map(|error| CompileError {
                place: place.clone(),
                ..error
            })),
        }
    }
    tests
}

/// Compiles a `when`, and refuses names that are not in scope: a misspelt one would never match.
/// The program is strict: an argument of the wrong type cannot be judged, and that denies.
pub fn compile_when(source: &str) -> Result<Program, PolicyError> {
    let place = Place::When { policy: 0, rule: 0 };
    let program = Program::compile(source).map_err(|errors| {
        errors
            .into_iter()
            .map(|error| CompileError {
                place: place.clone(),
                message: error.message,
                help: error.help,
                span: Some(error.span.start..error.span.end),
            })
            .collect::<Vec<_>>()
    })?;
    let mut errors: Vec<_> = program
        .root_spans()
        .filter(|(root, _)| !ROOTS.contains(root) && !COMPUTED.contains(root))
        .map(|(root, span)| CompileError {
            place: place.clone(),
            message: format!("unknown name `{root}`"),
            help: Some(format!(
                "in scope are {} and {}; arguments are `params.{root}`",
                ROOTS.join(", "),
                COMPUTED.join(", ")
            )),
            span: Some(span.start..span.end),
        })
        .collect();
    errors.extend(shape::check(program.expr(), &place));
    errors.extend(
        members_of_texts(&program)
            .into_iter()
            .map(|(name, span)| CompileError {
                place: place.clone(),
                message: format!(
                    "`{}` never matches: `{name}` is a text and has no members",
                    span.text(source)
                ),
                help: Some(format!(
                    "compare `{name}` itself; an argument of that name is `params.{name}`"
                )),
                span: Some(span.start..span.end),
            }),
    );
    if errors.is_empty() {
        errors.extend(never_holds(&program, &place));
    }
    if errors.is_empty() {
        Ok(program.strict().with_computed(&COMPUTED))
    } else {
        Err(errors)
    }
}

/// A rule whose condition holds of no call is a slip: it does not do what it says.
fn never_holds(program: &Program, place: &Place) -> Option<CompileError> {
    let lint = expr::never_holds(program.expr(), shape::type_of, &ALWAYS_SET)?;
    Some(CompileError {
        place: place.clone(),
        message: lint.message,
        help: lint.help,
        span: Some(lint.span.start..lint.span.end),
    })
}

/// Steps into what is a text for every call, such as `agent.name`.
fn members_of_texts(program: &Program) -> Vec<(Box<str>, Span)> {
    let mut found = Vec::new();
    let mut look = |expr: &Expr, span: Span| {
        if let ExprKind::Path { root, steps } = &expr.kind
            && TEXTS.contains(&&**root)
            && (span != expr.span || !steps.is_empty())
            && !matches!(steps.as_slice(), [Step::Key(key)] if &**key == "length")
        {
            found.push((root.clone(), span));
        }
    };
    program.expr().walk(&mut |node| match &node.kind {
        ExprKind::Access { of, .. } => look(of, node.span),
        _ => look(node, node.span),
    });
    found.dedup();
    found
}

fn read_glob(source: &str, place: Place, errors: &mut PolicyError) -> Option<Glob> {
    Glob::new(source)
        .map_err(|error| {
            errors.push(CompileError {
                place,
                message: format!("bad glob `{source}`: {error}"),
                help: Some(
                    "`*` and `?` match within a name, `[a-z]` one of a class, `\\` escapes".into(),
                ),
                span: None,
            });
        })
        .ok()
}
