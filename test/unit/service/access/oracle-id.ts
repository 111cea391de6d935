/** What docs/access.md says about the id of a start without `workflowId`. */
import { fits, type OracleRequest, type OracleRule, type OracleScope, outcomeOf } from './oracle.ts'

// No pattern continues like it.
const GENERATED = '~'

/** Whether a rule allows the start, and the caller may do the rest with the id that the rule generates. */
export function mayGenerate(rules: OracleRule[], token: OracleScope | null, requests: OracleRequest[]): boolean {
  return rules.some((rule) => {
    const prefix = prefixOf(rule, token)
    if (prefix === null) return false
    const ofId = requests.map((request) => ({ ...request, workflowId: prefix + GENERATED }))
    return outcomeOf([rule], token, ofId.slice(0, 1)) === 'reached' && outcomeOf(rules, token, ofId) === 'reached'
  })
}

/** Of the first pattern of the rule, within the token, that ends with `*`. */
function prefixOf({ ids = ['*'] }: OracleRule, token: OracleScope | null): string | null {
  const within = ids.flatMap((one) => (token?.ids ?? ['*']).flatMap((other) => narrower(one, other)))
  return within.find((pattern) => pattern.endsWith('*'))?.slice(0, -1) ?? null
}

function narrower(one: string, other: string): string[] {
  const isWithin = (inner: string, outer: string) =>
    inner === outer || (outer.endsWith('*') && fits([outer], inner.replace(/\*$/, '')))
  if (isWithin(one, other)) return [one]
  return isWithin(other, one) ? [other] : []
}
