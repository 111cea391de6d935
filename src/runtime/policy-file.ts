/** Reads the file of the policy, and reads it again whenever it changes. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { type FileText, type Policy, type PolicyNames, parseFile, parsePolicyText } from '../config.ts'
import { errorCode } from '../lib/error-code.ts'
import type { Log } from '../log.ts'

/** The file as it was at one moment. */
export type PolicyVersion = FileText & {
  /** Differs from that of another version. */
  id: string
}

export async function readPolicyFile(path: string): Promise<PolicyVersion> {
  const id = await versionOf(path)
  try {
    return { text: await readFile(path, 'utf8'), id }
  } catch (error) {
    return { error: codeOf(error), id }
  }
}

/** Taken before the content is read: a file that changes meanwhile is read again. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(path)
    // Kubernetes replaces a symbolic link, and the new file may have the size and the time of the old one.
    return [await realpath(path), ino, mtimeMs, size].join()
  } catch (error) {
    return codeOf(error)
  }
}

/** Deno's error for a missing permission has no code, and its message has the path. */
function codeOf(error: unknown): string {
  return String(errorCode(error) ?? (error instanceof Error ? error.name : 'unknown error'))
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

const EVERY_MS = 5000

/** Checks for a new version at intervals, until the returned function is called. Does not keep the process running. */
export function watchPolicyFile({ path, first, everyMs = EVERY_MS, ...watch }: PolicyWatch): () => void {
  let last = first
  let isReading = false
  let isStopped = false
  async function check(): Promise<void> {
    // A network file system can take longer than the interval.
    if (isReading) return
    isReading = true
    try {
      if ((await versionOf(path)) === last.id) return
      last = await readPolicyFile(path)
      if (!isStopped) apply(last, watch)
    } finally {
      isReading = false
    }
  }
  const timer = setInterval(() => void check(), everyMs)
  // On Deno the timer is a number. It needs no `unref` there, because `exit` ends the process.
  if (typeof timer === 'object') timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
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
