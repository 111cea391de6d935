/** What docs/access.md says about who may create an access token: the oracle of `delegate`. */
import { fits, hasVerb, type OracleRule, type OracleScope } from './oracle.ts'

/** Whether one rule allows all of each combination of verb, id and workflow, with the options that the verb can use. */
export function mayCreate(rules: OracleRule[], { can, ids, workflows, options = [] }: OracleScope): boolean {
  const isAllowed = (right: string, id: string | null, workflow: string | null) => {
    const [verb = '', handler] = right.replace(/:\*$/, '').split(/:(.*)/)
    const isUsed = (name: string) =>
      ['start', 'activity'].includes(verb) ||
      (name === 'headers' && /signal|query|update/.test(verb)) ||
      (verb === 'repair' && ['priority', 'versioningOverride'].includes(name))
    return rules.some(
      (rule) =>
        hasVerb(rule.can, { verb, handler }) &&
        (id === null || fits(rule.ids ?? ['*'], id)) &&
        (workflow === null || fits(rule.workflows ?? ['*'], workflow)) &&
        options.filter(isUsed).every((name) => fits(rule.options ?? [], name)),
    )
  }
  const parts = can.flatMap((right) => (ids ?? [null]).map((id) => [right, id] as const))
  const isCovered = ([right, id]: (typeof parts)[number]) =>
    (workflows ?? [null]).every((name) => isAllowed(right, id, name))
  return (
    hasVerb(
      rules.flatMap((rule) => rule.can),
      { verb: 'delegate' },
    ) && parts.every(isCovered)
  )
}
