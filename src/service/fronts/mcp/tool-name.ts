/** Names of tools. Hosts accept only some characters, and at most 60 with the name of the server. */
import { sha256 } from '../../../shared/lib/digest.ts'

const PLAIN = /^[A-Za-z][A-Za-z0-9_-]{0,47}$/
const HASHED = /_[0-9a-f]{8}$/

/** What the names of the tools for runs begin with. */
export const RUN_TOOL_PREFIX = 'workflow_'

/**
 * The name of the tool for a workflow: its own name if hosts accept that, otherwise a similar one with a hash. It
 * depends on nothing else, so that no deployment changes it.
 */
export async function toolNameOf(workflowName: string): Promise<string> {
  if (PLAIN.test(workflowName) && !HASHED.test(workflowName) && !workflowName.startsWith(RUN_TOOL_PREFIX))
    return workflowName
  const similar = workflowName
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 39)
    .replace(/_+$/, '')
  return `${similar || 'w'}_${(await sha256(workflowName)).slice(0, 8)}`
}
