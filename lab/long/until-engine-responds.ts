import { expect } from 'vitest'
import type { RunningEngine } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'

/**
 * Waits until the engine responds within half a second. For a request after thousands of starts, which the engine may
 * still be busy with: `/ready` gives it one second.
 */
export async function untilEngineResponds({ httpUrl }: Pick<RunningEngine, 'httpUrl'>): Promise<void> {
  await until('the engine responds within half a second', async () => {
    const sentAt = performance.now()
    const { status } = await fetch(`${httpUrl}/api/v1/namespaces/default/workflows/nobody`)
    expect(status).toBe(404)
    return performance.now() - sentAt < 500
  })
}
