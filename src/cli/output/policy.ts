/** Renders what decides about an action. */
import type { PolicyExplanation, RuleExplanation } from '../policy/explain-policy.ts'
import { pairs, table } from './table.ts'
import { paint, printable } from './terminal.ts'

export function renderPolicyExplanation({ caller, action, verdict, rule, rules }: PolicyExplanation): string {
  const decided = rule === null ? verdict : `${verdict} by the rule ${rule}`
  const head = pairs([
    ['Caller', caller === null ? 'unknown' : printable(caller)],
    ['Action', printable(action)],
    ['Verdict', paint(verdict === 'allowed' ? 'green' : 'red', decided)],
  ])
  return rules.length === 0 ? head : `${head}\n\n${table(['Rule', 'Result', 'Why'], rules.map(rowOf))}`
}

function rowOf({ rule, result, reason }: RuleExplanation): string[] {
  return [rule, result, printable(reason ?? '')]
}
