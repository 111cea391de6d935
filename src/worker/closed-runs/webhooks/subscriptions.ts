/** Which endpoint gets a message about which run. */
import { readFileSync } from 'node:fs'
import type { ReadFile, WebhookEndpoint } from '../../../shared/config/webhooks.ts'
import { parseWebhookEndpoints } from '../../../shared/config/worker.ts'
import { errorCode } from '../../../shared/lib/error-code.ts'
import type { Status } from '../../../shared/wire/execution.ts'
import { isReservedName } from '../../../shared/wire/names.ts'

/**
 * The endpoints of webhooks from `SERVICE_WEBHOOKS` or `SERVICE_WEBHOOKS_FILE`, for code that creates its own `Worker`.
 * Throws an error that lists every mistake. The file is read once.
 */
export function parseWebhooksConfig(env: Readonly<Record<string, string | undefined>>): readonly WebhookEndpoint[] {
  return parseWebhookEndpoints(env, readWebhooksFile)
}

export const readWebhooksFile: ReadFile = (path) => {
  try {
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    return { error: String(errorCode(error) ?? 'unknown error') }
  }
}

/** Whether the endpoint gets a message about a run of this workflow that ended so, or that has a problem. */
export function subscribesTo(
  { workflows, on }: Pick<WebhookEndpoint, 'on' | 'workflows'>,
  { workflowName, status }: { workflowName: string; status: Status | 'problem' },
): boolean {
  if (isReservedName(workflowName)) return false
  return on.some((event) => event === status) && workflows.some((pattern) => matches(pattern, workflowName))
}

function matches(pattern: string, workflowName: string): boolean {
  return pattern.endsWith('*') ? workflowName.startsWith(pattern.slice(0, -1)) : workflowName === pattern
}
