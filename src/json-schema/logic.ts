/** Schemas joined by logic. */
import { attempt, type Check, type Place, type Refusal, type Run, refuse, tell } from './run.ts'

export function every(checks: Check[]): Check {
  return (value, at, run, seen) => {
    let fits = true
    for (const check of checks) if (!check(value, at, run, seen)) fits = false
    return fits
  }
}

export function anyOf(checks: Check[]): Check {
  return (value, at, run, seen) => {
    const attempts: Refusal[][] = []
    let fits = false
    for (const check of checks) {
      const refusals = attempt(check, value, at, run, seen)
      fits ||= refusals === null
      if (refusals !== null) attempts.push(refusals)
      // The others could only add to what has been looked at.
      else if (seen === null) return true
    }
    if (fits) return true
    return refuseLikeOne(attempts, at, run)
  }
}

export function oneOf(checks: Check[]): Check {
  return (value, at, run, seen) => {
    const attempts: Refusal[][] = []
    for (const check of checks) {
      const refusals = attempt(check, value, at, run, seen)
      if (refusals !== null) attempts.push(refusals)
    }
    const fitting = checks.length - attempts.length
    if (fitting === 1) return true
    return fitting === 0
      ? refuseLikeOne(attempts, at, run)
      : refuse(run, at, `must match one alternative, not ${fitting}`)
  }
}

/** Where all alternatives but one are of another kind, what that one refuses is what there is to mend. */
function refuseLikeOne(attempts: Refusal[][], at: Place, run: Run): false {
  const near = attempts.filter((refusals) => refusals.every((refusal) => refusal.at !== at))
  const [only] = near
  if (near.length !== 1 || only === undefined)
    return refuse(run, at, `must match one of ${attempts.length} alternatives`)
  tell(run, only)
  return false
}

export function not(check: Check): Check {
  return (value, at, run) =>
    attempt(check, value, at, run, null) !== null || refuse(run, at, 'must not match what it must not be')
}

export function ifThenElse(condition: Check, then: Check, otherwise: Check): Check {
  return (value, at, run, seen) => {
    const holds = attempt(condition, value, at, run, seen) === null
    return (holds ? then : otherwise)(value, at, run, seen)
  }
}
