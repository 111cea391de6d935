import { expect, test } from 'vitest'
import { eventsIn } from '../../support/event-stream.ts'
import type { ApiFixture } from './api-fixture.ts'

/** `run` with the key `stream`. */
export function runStream(api: () => ApiFixture): void {
  test('stream: run as events sends the items before the result, and continues after any of them', async () => {
    const body = { workflowName: 'streamFromActivity', input: ['one', 'two', 'three'], stream: { topics: ['tokens'] } }
    const run = (lastEventId?: string) =>
      api().service.post('run', body, {
        Accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      })

    const sent = eventsIn((await run()).text)
    const [started, first] = sent
    const { workflowId, runId } = started?.data ?? {}
    const again = eventsIn((await run(first?.id)).text)

    expect(sent.map(({ id, event, data }) => [id, event, event === 'item' ? data.data.text : null])).toEqual([
      [`${workflowId}/${runId}`, 'started', null],
      [`${workflowId}/${runId}@0`, 'item', 'one'],
      [`${workflowId}/${runId}@1`, 'item', 'two'],
      [`${workflowId}/${runId}@2`, 'item', 'three'],
      [`${workflowId}/${runId}@end`, 'result', null],
    ])
    expect(again).toEqual([started, ...sent.slice(2)])
    const json = await api().service.post('run', body)
    expect([json.status, json.body.status]).toEqual([200, 'completed'])
  })

  test('stream: run as events of a workflow without a stream has no items', async () => {
    const body = { workflowName: 'echo', input: 1, stream: {} }

    const sent = await api().service.post('run', body, { Accept: 'text/event-stream' })

    expect(eventsIn(sent.text).map(({ event }) => event)).toEqual(['started', 'result'])
  })

  test('stream: run in the format of the AI SDK names the workflow in a header', async () => {
    const chunks = [
      { type: 'start' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hello' },
      { type: 'text-end', id: 't' },
      { type: 'finish' },
    ]
    const body = { workflowName: 'streamParts', args: ['chat', chunks], stream: { format: 'ui-message' } }

    const sent = await api().service.post('run', body, { Accept: 'text/event-stream' })

    expect(sent.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const status = await api().service.get(`${sent.headers.get('x-workflow-run-id')}/status`)
    expect(status.body).toMatchObject({ workflowName: 'streamParts', status: 'completed' })
    const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
    // A service sends comments while it waits.
    expect(sent.text.replace(/^:.*\n\n/gm, '')).toContain(frames.join(''))
  })
}
