/** Reads the file of the policy, and reads it again whenever it changes. */
import { readFile } from 'node:fs/promises'
import type { Log } from '../../log.ts'
import { type FileText, type Policy, type PolicyNames, parseFile, parsePolicyText } from '../../shared/config.ts'
import { fileError, versionOf, watchFiles } from '../../shared/lib/watch-files.ts'

/** The file as it was at one moment. */
export type PolicyVersion = FileText & {
  /** Differs from that of another version. */
  id: string
}

export async function readPolicyFile(path: string): Promise<PolicyVersion> {
  const id = await versionOf([path])
  try {
    return { text: await readFile(path, 'utf8'), id }
  } catch (error) {
    return { error: fileError(error), id }
  }
}

export interface PolicyWatch {
  path: string
  /** The version that is in force. */
  first: PolicyVersion
  /** What the policy may name. */
  names: PolicyNames
  log: Log
  /** Called with each new valid version. */
  onPolicy(policy: Policy): void
  /** Called for each new version that has mistakes or cannot be read. The version before it stays in force. */
  onFailure(): void
  /** Default: 5 s. */
  everyMs?: number
}

/** Checks for a new version at intervals, until the returned function is called. Does not keep the process running. */
export function watchPolicyFile({ path, first, everyMs, ...watch }: PolicyWatch): () => void {
  return watchFiles({
    paths: [path],
    version: first.id,
    read: () => readPolicyFile(path),
    use: (version) => apply(version, watch),
    ...(everyMs !== undefined && { everyMs }),
  })
}

function apply(
  version: PolicyVersion,
  { names, log, onPolicy, onFailure }: Pick<PolicyWatch, 'log' | 'names' | 'onFailure' | 'onPolicy'>,
): void {
  const parsed = parseFile(version, (text) => parsePolicyText(text, names))
  if ('issues' in parsed) {
    const issues = parsed.issues.map((issue) => `SERVICE_POLICY_FILE ${issue}`)
    log('error', 'the new policy is not valid; the policy before it stays in force', { issues })
    onFailure()
    return
  }
  for (const warning of parsed.warnings) log('warn', `SERVICE_POLICY_FILE ${warning}`)
  onPolicy(parsed.policy)
  log('info', 'a new policy is in force', { rules: parsed.policy.rules.length })
}
