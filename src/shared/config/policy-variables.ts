/** The variables about the policy: the document itself or its file, and the audit log. */
import * as z from 'zod/mini'
import { HOOK_SECRET_PREFIX } from '../hooks/hook-schemes.ts'
import { type FileText, parseDocument, parseFile } from './json-document.ts'
import { type ParsedPolicy, type Policy, type PolicyNames, parsePolicy } from './policy.ts'
import type { HookSecrets } from './policy-hooks.ts'
import { anyString, type Variables } from './variables.ts'

/** Which decisions about requests are logged: none; changes and denials; all. */
export type AuditLevel = z.output<typeof auditLevel>

export const AUDIT_WITH_POLICY: AuditLevel = 'effects'

export interface PolicyConfig {
  policy: Policy | null
  audit: AuditLevel
  isAuditSet: boolean
  /** The secrets that hooks may name, by variable. */
  hookSecrets: HookSecrets
  warnings: string[]
}

interface PolicyOptions extends Pick<PolicyNames, 'namespaces'> {
  isolated: boolean
  /** Null: the runtime does not read `SERVICE_POLICY_FILE`. */
  file: FileText | null
}

export function policyConfig(variables: Variables, { isolated, file, namespaces }: PolicyOptions): PolicyConfig {
  const { read, isSet, report, startingWith } = variables
  const hookSecrets = startingWith(HOOK_SECRET_PREFIX)
  const names = { namespaces, hookSecrets }
  const text = read('SERVICE_POLICY', anyString)
  const path = read('SERVICE_POLICY_FILE', anyString)
  if (text !== null && path !== null) report('SERVICE_POLICY and SERVICE_POLICY_FILE must not be set together')
  const audit = read('SERVICE_AUDIT', auditLevel)
  const parsed = [
    ...(text === null ? [] : [withName('SERVICE_POLICY', parsePolicyText(text, names))]),
    ...(path === null ? [] : [withName('SERVICE_POLICY_FILE', parsePolicyFile(file, isolated, names))]),
  ]
  for (const result of parsed) if ('issues' in result) for (const issue of result.issues) report(issue)
  const [valid = null] = parsed.filter((result) => 'policy' in result)
  return {
    policy: valid?.policy ?? null,
    audit: audit ?? (valid === null ? 'off' : AUDIT_WITH_POLICY),
    isAuditSet: isSet('SERVICE_AUDIT'),
    hookSecrets,
    warnings: valid?.warnings ?? [],
  }
}

/** The policy of a JSON document. */
export function parsePolicyText(text: string, names: PolicyNames): ParsedPolicy {
  const parsed = parseDocument(text)
  return 'issues' in parsed ? parsed : parsePolicy(parsed.value, names)
}

function parsePolicyFile(file: FileText | null, isolated: boolean, names: PolicyNames): ParsedPolicy {
  if (isolated) return { issues: ['is not available on workerd (no file system); use SERVICE_POLICY'] }
  if (file === null) return { issues: ['is read only by the service itself; use SERVICE_POLICY, or pass policy'] }
  return parseFile(file, (text) => parsePolicyText(text, names))
}

function withName(name: string, parsed: ParsedPolicy): ParsedPolicy {
  const named = (sentences: string[]) => sentences.map((sentence) => `${name} ${sentence}`)
  if ('issues' in parsed) return { issues: named(parsed.issues) }
  return { policy: parsed.policy, warnings: named(parsed.warnings) }
}

const auditLevel = z.enum(['off', 'effects', 'all'], { error: 'must be off, effects or all' })
