/** Schemas joined by logic. */
import type { Issue } from '../errors.ts'
import { attempt, type Check, type Place, pointer, type Run, refuse, tell } from './run.ts'

export function every(checks: Check[]): Check {
  return (value, at, run, seen) => {
    let fits = true
    for (const check of checks) if (!check(value, at, run, seen)) fits = false
    return fits
  }
}

export function anyOf(checks: Check[]): Check {
  return (value, at, run, seen) => {
    const refusals: Issue[][] = []
    let fits = false
    for (const check of checks) {
      const issues = attempt(check, value, at, run, seen)
      fits ||= issues === null
      if (issues !== null) refusals.push(issues)
      // The others could only add to what has been looked at.
      else if (seen === null) return true
    }
    if (fits) return true
    return refuseLikeOne(refusals, at, run)
  }
}

export function oneOf(checks: Check[]): Check {
  return (value, at, run, seen) => {
    const refusals: Issue[][] = []
    for (const check of checks) {
      const issues = attempt(check, value, at, run, seen)
      if (issues !== null) refusals.push(issues)
    }
    const fitting = checks.length - refusals.length
    if (fitting === 1) return true
    return fitting === 0 ? refuseLikeOne(refusals, at, run) : refuse(run, at, `must match one alternative, not ${fitting}`)
  }
}

/** Where all alternatives but one are of another kind, what that one refuses is what there is to mend. */
function refuseLikeOne(refusals: Issue[][], at: Place, run: Run): false {
  const place = pointer(at)
  const near = refusals.filter((issues) => issues.every(({ path }) => path !== place))
  const [only] = near
  if (near.length !== 1 || only === undefined) return refuse(run, at, `must match one of ${refusals.length} alternatives`)
  tell(run, only)
  return false
}

export function not(check: Check): Check {
  return (value, at, run) => attempt(check, value, at, run, null) !== null || refuse(run, at, 'must not match what it must not be')
}

export function ifThenElse(condition: Check, then: Check, otherwise: Check): Check {
  return (value, at, run, seen) => {
    const holds = attempt(condition, value, at, run, seen) === null
    return (holds ? then : otherwise)(value, at, run, seen)
  }
}
