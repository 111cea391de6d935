import { expect } from 'vitest'
import type { Answer } from '../../support/api.ts'
import { openEvents } from '../../support/event-stream.ts'
import { type ApiFixture, AUTHORIZED } from './api-fixture.ts'

/** Requests about the stream of a run. */
export function streamApi(api: () => ApiFixture) {
  const pathOf = (run: string, parameters = '') => `/workflow/${run}/stream${parameters}`
  const post = (run: string, body: unknown, headers?: Record<string, string>) =>
    api().service.post(`${run}/stream`, body, headers)
  const signal = (id: string, name: string, payload?: unknown) =>
    api().service.post(`${id}/signal/${name}`, payload === undefined ? undefined : { payload })
  const json = (run: string, parameters = ''): Promise<Answer> =>
    api().service.get(`${run}/stream${parameters}`, { Accept: 'application/json' })
  const open = (run: string, parameters = '', lastEventId?: string) =>
    openEvents(`${api().service.url}${pathOf(run, parameters)}`, {
      headers: { ...AUTHORIZED, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
    })

  /** A run with a stream, and how clients publish to it. */
  async function startStream(input: object = {}) {
    const { body } = await api().service.start('streamSignals', input)
    const { workflowId, runId } = body as { workflowId: string; runId: string }
    const publish = async (...data: unknown[]) => {
      const answer = await post(workflowId, { items: data.map((each) => ({ topic: 'tokens', data: each })) })
      expect(answer.status).toBe(202)
    }
    return { workflowId, runId, publish }
  }

  return { post, signal, json, open, pathOf, startStream }
}
