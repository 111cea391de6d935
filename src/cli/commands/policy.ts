/** `portico policy check` and `explain`. */
import { readFile } from 'node:fs/promises'
import type { ParsedPolicy, Policy } from '../../shared/config/policy.ts'
import { parsePolicyText } from '../../shared/config/policy-variables.ts'
import { errorCode } from '../../shared/lib/error-code.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { UsageError } from '../failures.ts'
import { readArgument } from '../flags/json-argument.ts'
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
import { identityOfJwt, type JwtExplanation, KEYS_UNAVAILABLE } from '../policy/explained-jwt.ts'
import { checkCaller, type QuestionFlags, readQuestion } from '../policy/question.ts'

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
export async function explainAccess(path: string, action: string, flags: QuestionFlags & OutputFlags): Promise<void> {
  checkCaller(flags)
  const policy = await readPolicy(path)
  const jwt = flags.jwt === undefined ? null : await readJwtFlag(flags.jwt, policy)
  const question = readQuestion(policy, action, flags, process.env, jwt && identityOfJwt(jwt))
  const explanation = explainPolicy(policy.rules, question, jwt)
  if (printsJson(flags)) printDocument(JSON.stringify(explanation))
  else printLines(renderPolicyExplanation(explanation))
  process.exitCode = exitCodeOf(explanation)
}

/** jose is loaded only with a JWT. */
async function readJwtFlag(value: string, policy: Policy): Promise<JwtExplanation> {
  const jwt = await readArgument('--jwt', value, new AbortController().signal)
  const { readJwt } = await import('../policy/read-jwt.ts')
  return readJwt(jwt.trim(), policy)
}

function exitCodeOf({ verdict, jwt }: PolicyExplanation): ExitCode {
  if (jwt?.rejected === KEYS_UNAVAILABLE) return EXIT.unreachable
  return verdict === 'allowed' ? EXIT.completed : EXIT.failed
}

function renderPolicyExplanation({ caller, action, verdict, rule, rules, jwt }: PolicyExplanation): string {
  const decided = rule === null ? verdict : `${verdict} by the rule ${rule}`
  const head = pairs([
    ...(jwt === undefined ? [] : rowsOfJwt(jwt)),
    ['Caller', caller === null ? 'unknown' : printable(caller)],
    ['Action', printable(action)],
    ['Verdict', paint(verdict === 'allowed' ? 'green' : 'red', decided)],
  ])
  return rules.length === 0 ? head : `${head}\n\n${table(['Rule', 'Result', 'Why'], rules.map(rowOf))}`
}

function rowsOfJwt({ issuer, audience, scopes, claims, rejected }: JwtExplanation): [string, string][] {
  return [
    ['JWT', rejected === null ? 'valid' : paint('red', `rejected: ${rejected}`)],
    ['Issuer', issuer === null ? 'unknown' : printable(issuer)],
    ['Audience', printable(audience.join(' '))],
    ['Scopes', printable(scopes.join(' '))],
    ['Claims', printable(JSON.stringify(claims))],
  ]
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
