/** `portico policy check` and `explain`. */
import { readFile } from 'node:fs/promises'
import type { ParsedPolicy, Policy } from '../../config/policy.ts'
import { parsePolicyText } from '../../config/policy-variables.ts'
import { errorCode } from '../../lib/error-code.ts'
import { EXIT } from '../exit-code.ts'
import { UsageError } from '../failures.ts'
import { pairs, table } from '../output/table.ts'
import {
  type OutputFlags,
  paint,
  printable,
  printDocument,
  printLines,
  printNote,
  printsJson,
} from '../output/terminal.ts'
import { explainPolicy, type PolicyExplanation, type RuleExplanation } from '../policy/explain-policy.ts'
import { type QuestionFlags, readQuestion } from '../policy/question.ts'

/** Prints the mistakes and the warnings of a file. */
export async function check(path: string, flags: OutputFlags): Promise<void> {
  const parsed = await parseFile(path)
  const isJson = printsJson(flags)
  if ('issues' in parsed) {
    if (isJson) printDocument(JSON.stringify({ valid: false, issues: parsed.issues }))
    throw new UsageError(summary(path, parsed.issues))
  }
  const { policy, warnings } = parsed
  for (const warning of warnings) printNote(printable(`warning: ${warning}`))
  const [rules, issuers] = [policy.rules.length, Object.keys(policy.issuers).length]
  if (isJson) printDocument(JSON.stringify({ valid: true, rules, issuers, warnings }))
  else printLines(printable(`${path} is valid: ${counted(rules, 'rule')}, ${counted(issuers, 'issuer')}`))
}

/** Prints which rule decides. The exit code is 1 if no rule allows the action. */
export async function explain(path: string, action: string, flags: QuestionFlags & OutputFlags): Promise<void> {
  const policy = await readPolicy(path)
  const explanation = explainPolicy(policy.rules, readQuestion(policy, action, flags, process.env))
  if (printsJson(flags)) printDocument(JSON.stringify(explanation))
  else printLines(renderPolicyExplanation(explanation))
  process.exitCode = explanation.verdict === 'allowed' ? EXIT.completed : EXIT.failed
}

function renderPolicyExplanation({ caller, action, verdict, rule, rules }: PolicyExplanation): string {
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

async function readPolicy(path: string): Promise<Policy> {
  const parsed = await parseFile(path)
  if ('issues' in parsed) throw new UsageError(summary(path, parsed.issues))
  return parsed.policy
}

async function parseFile(path: string): Promise<ParsedPolicy> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`the file ${path} cannot be read (${errorCode(error)})`)
  })
  // Only the service knows its namespaces.
  return parsePolicyText(text, { namespaces: null })
}

function summary(path: string, issues: readonly string[]): string {
  return [`${path} has ${counted(issues.length, 'mistake')}:`, ...issues].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
