/** Exports spans if the variables of OpenTelemetry enable it. */

import type { Log } from '../../log.ts'
import type { Environment } from '../../shared/config.ts'
import { withDeadline } from '../../shared/lib/abort.ts'
import { isTracerInstalled } from '../telemetry/observers.ts'
import { otlpSettings } from '../telemetry/otlp/settings.ts'

/** Exports the spans that are left, until the deadline (epoch milliseconds) at the latest. */
export type FlushSpans = (deadlineAt: number) => Promise<void>

/**
 * Null if spans are not exported, or if the host has installed a tracer (`--import`, `OTEL_DENO`), which exports them.
 */
export async function startSpanExport(env: Environment, log: Log): Promise<FlushSpans | null> {
  const settings = otlpSettings(env)
  if (settings === null || isTracerInstalled()) return null
  if ('issue' in settings) {
    log('warn', `spans are not exported: ${settings.issue}`)
    return null
  }
  // Decision 020: OpenTelemetry's SDK is loaded only on demand.
  const { exportSpans } = await import('../telemetry/otlp/export-spans.ts')
  const { shutdown } = await exportSpans({ protocol: settings.protocol, log })
  return async (deadlineAt) => {
    // A failed export has been logged.
    await withDeadline(shutdown(), deadlineAt, new AbortController().signal).catch(() => {})
  }
}
