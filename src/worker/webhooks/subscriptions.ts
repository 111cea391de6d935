/** Which endpoint gets a message about which run. */
import { readFileSync } from 'node:fs'
import { type ReadFile, WEBHOOK_STATUSES, type WebhookEndpoint, type WebhookStatus } from '../../config/webhooks.ts'
import { parseWebhookEndpoints } from '../../config/worker.ts'
import { errorCode } from '../../lib/error-code.ts'
import type { Status } from '../../protocol/execution.ts'

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

/** Whether the endpoint gets a message about a run of this workflow that ended so, if no other run follows it. */
export function subscribesTo(
  { workflows, on }: Pick<WebhookEndpoint, 'on' | 'workflows'>,
  { workflowName, status }: { workflowName: string; status: Status },
): boolean {
  // Runs of Portico and of Temporal itself, such as the one that holds the catalog.
  if (/^(?:\$|__temporal_)/.test(workflowName)) return false
  return isWebhookStatus(status) && on.includes(status) && workflows.some((pattern) => matches(pattern, workflowName))
}

export function isWebhookStatus(status: Status): status is WebhookStatus {
  return WEBHOOK_STATUSES.some((known) => known === status)
}

function matches(pattern: string, workflowName: string): boolean {
  return pattern.endsWith('*') ? workflowName.startsWith(pattern.slice(0, -1)) : workflowName === pattern
}
