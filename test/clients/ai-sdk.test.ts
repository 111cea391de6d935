/** `useChat` of the AI SDK, without React, reads streams of a real workflow through two services. */
import { expect } from 'vitest'
import { chatTransport } from '../../examples/chat-transport.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { BEGINNING, openChat, REST, textsOf } from '../support/chat.ts'
import { test as sharedTest } from '../support/fixtures.ts'

const TOKEN = 'ai-sdk-token'

const HEADERS = { Authorization: `Bearer ${TOKEN}` }

const test = sharedTest
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_API_AUTH_TOKEN: TOKEN }))
  .extend('otherService', { scope: 'file' }, ({ startService, serviceEnv, worker: _ }) =>
    startService({ env: serviceEnv }),
  )
  /** A chat, and what happens to its workflow. */
  .extend('chat', ({ serviceProcess }) => {
    const id = `chat-${crypto.randomUUID()}`
    const post = async (path: string, body: unknown) => {
      const answer = await serviceProcess.call('POST', `/workflow/${path}`, body, HEADERS)
      expect(answer.status, answer.text).toBeLessThan(300)
    }
    const signal = (name: string) => post(`${id}/signal/${name}`, { payload: null })
    return {
      id,
      transport: chatTransport(serviceProcess.url, 'streamSignals', HEADERS),
      start(workflowName = 'streamSignals', args: unknown[] = []) {
        return post('start', { workflowName, workflowId: id, args })
      },
      publish(chunks: unknown[]) {
        return post(`${id}/stream`, { items: chunks.map((data) => ({ topic: 'chat', data })) })
      },
      finish: () => signal('finish'),
      fail: () => signal('fail'),
    }
  })

test('AI SDK: an answer is shown while it is written, and continues on another replica after a reload', async ({
  chat,
  otherService,
}) => {
  const first = openChat(chat)
  const sent = first.sendMessage({ text: 'Who am I?' })
  await until('the workflow has a stream', () => chat.publish(BEGINNING).then(() => true))
  await until('the page shows the beginning', () => textsOf(first)[1] === 'Hello')

  const transport = chatTransport(otherService.url, 'streamSignals', HEADERS)
  const reloaded = openChat({ id: chat.id, transport, messages: first.messages })
  const resumed = reloaded.resumeStream()
  await until('the reloaded page reads the answer', () => reloaded.status === 'streaming')
  await chat.publish(REST)
  await chat.finish()
  await Promise.all([sent, resumed])
  const late = openChat({ id: chat.id, transport, messages: reloaded.messages })
  await late.resumeStream()
  const empty = openChat({ id: chat.id, transport })
  await empty.resumeStream()

  for (const page of [first, reloaded, late]) {
    expect([page.status, page.error, textsOf(page)]).toEqual(['ready', undefined, ['Who am I?', 'Hello, Ada']])
  }
  expect(textsOf(empty)).toEqual(['Hello, Ada'])
})

test('AI SDK: the parts that @temporalio/ai-sdk publishes as bytes are a message', async ({ chat }) => {
  await chat.start('streamParts', [
    'chat',
    [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1', modelId: 'm' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hello, Åsa' },
      { type: 'text-end', id: '0' },
      { type: 'finish', usage: {}, finishReason: { unified: 'stop' } },
    ],
  ])

  const page = openChat(chat)
  await page.resumeStream()

  expect([page.error, textsOf(page)]).toEqual([undefined, ['Hello, Åsa']])
})

test('AI SDK: a run that fails is an error of the chat', async ({ chat }) => {
  await chat.start()
  await chat.publish(BEGINNING)
  await chat.fail()

  const page = openChat(chat)
  await page.resumeStream()

  expect([page.status, page.error?.message]).toEqual(['error', `Workflow ${chat.id} failed`])
  expect(textsOf(page)).toEqual(['Hello'])
})

test('AI SDK: a chat without a run has nothing to resume', async ({ chat }) => {
  const page = openChat(chat)
  await page.resumeStream()

  expect([page.status, page.error, page.messages]).toEqual(['ready', undefined, []])
})

test('WorkflowChatTransport: a reader continues after the chunks that it has, and begins with the last ones', async ({
  chat,
  serviceProcess,
}) => {
  await chat.start()
  await chat.publish([...BEGINNING, ...REST])
  const open = await fetch(streamUrl(-3), { headers: HEADERS })
  await chat.finish()

  const ofOpen = await open.text()
  const closed = await fetch(streamUrl(6), { headers: HEADERS })
  const afterEnd = await fetch(streamUrl(8), { headers: HEADERS })

  expect(open.headers.get('X-Vercel-AI-UI-Message-Stream')).toBe('v1')
  // The last three begin in the text, so all of it is sent, and the header gives the index of its first chunk.
  expect(open.headers.get('X-Workflow-Stream-Tail-Index')).toBe('4')
  expect(framesIn(ofOpen)).toEqual([...BEGINNING.slice(2), ...REST])
  expect(framesIn(await closed.text())).toEqual(REST.slice(2))
  // `WorkflowChatTransport` requests a stream without `finish` again.
  expect(framesIn(await afterEnd.text())).toEqual([{ type: 'finish' }])

  function streamUrl(startIndex: number): string {
    return `${serviceProcess.url}/workflow/${chat.id}/stream?startIndex=${startIndex}&format=ui-message&topic=chat`
  }
})

/** The chunks of a body that ends with `[DONE]`. */
function framesIn(body: string): unknown[] {
  const data = [...body.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => json)
  expect(data.at(-1)).toBe('[DONE]')
  return data.slice(0, -1).map((json) => JSON.parse(json))
}
