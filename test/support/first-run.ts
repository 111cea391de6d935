import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from './api.ts'

/**
 * Starts the first run of a service, reads its status, and returns its id. The first requests of a process load and
 * compile code, for which a busy machine may take longer than a request may take.
 */
export async function startFirstRun(api: Pick<Api, 'call' | 'start'>, workflowName: string): Promise<string> {
  const { workflowId } = await until('the first run is started', async () => {
    const { status, body, text } = await api.start(workflowName)
    if (status !== 200) throw new Error(text)
    return body
  })
  await until('its status is read', async () => {
    const { status, text } = await api.call('GET', `/workflow/${workflowId}/status`)
    if (status !== 200) throw new Error(text)
    return true
  })
  return workflowId
}
