/** Keywords that combine schemas. */
import { type Check, type Context, type Location, report, reportAll, tryCheck, type Violation } from '../check.ts'

export function allOf(checks: Check[]): Check {
  return (value, at, context, evaluated) => {
    let isValid = true
    for (const check of checks) if (!check(value, at, context, evaluated)) isValid = false
    return isValid
  }
}

export function anyOf(checks: Check[]): Check {
  return (value, at, context, evaluated) => {
    const failures: Violation[][] = []
    for (const check of checks) {
      const violations = tryCheck(check, value, at, context, evaluated)
      if (violations !== null) failures.push(violations)
      // The remaining checks could only add to what is evaluated.
      else if (evaluated === null) return true
    }
    return failures.length < checks.length || reportClosest(failures, at, context, 'must match a schema in "anyOf"')
  }
}

export function oneOf(checks: Check[]): Check {
  return (value, at, context, evaluated) => {
    const failures: Violation[][] = []
    for (const check of checks) {
      const violations = tryCheck(check, value, at, context, evaluated)
      if (violations !== null) failures.push(violations)
    }
    const matches = checks.length - failures.length
    if (matches === 1) return true
    const message = `must match exactly one schema in "oneOf" (matched ${matches})`
    return matches === 0 ? reportClosest(failures, at, context, message) : report(context, at, message)
  }
}

/** If only one schema accepts the value itself, the violations inside the value are what the caller has to fix. */
function reportClosest(failures: Violation[][], at: Location, context: Context, message: string): false {
  const close = failures.filter((violations) => violations.every((violation) => violation.at !== at))
  const [closest] = close
  return close.length === 1 && closest !== undefined ? reportAll(context, closest) : report(context, at, message)
}

export function not(check: Check): Check {
  return (value, at, context) =>
    tryCheck(check, value, at, context, null) !== null || report(context, at, 'must not match the schema in "not"')
}

export function ifThenElse(condition: Check, then: Check, otherwise: Check): Check {
  return (value, at, context, evaluated) => {
    const holds = tryCheck(condition, value, at, context, evaluated) === null
    return (holds ? then : otherwise)(value, at, context, evaluated)
  }
}
