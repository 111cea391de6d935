import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { seen } from '../../support/api.ts'
import { type ApiFixture, AUTHORIZED, anId, operatorApi, startDirectly, startMessages } from './api-fixture.ts'

const MEBIBYTE = 1 << 20

/** What is too large, too slow, or too many. */
export function limits(api: () => ApiFixture): void {
  test('limits: a body above 2 MiB is rejected for its Content-Length (threat 45)', async () => {
    const problem = await sendIncomplete(api(), 3 * MEBIBYTE)

    expect([problem.status, problem.error, problem.source]).toEqual([413, 'PayloadTooLargeError', 'gateway'])
  })

  test('limits: a body above 2 MiB without Content-Length is rejected before its end (threat 45)', async () => {
    const { service } = api()
    const { promise: answered, resolve: end } = Promise.withResolvers<void>()
    let left = 4 * MEBIBYTE
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // A client that keeps sending while its connection closes may lose the response.
        if (left < 2 * MEBIBYTE) await answered
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
        left -= 64 * 1024
        if (left === 0) controller.close()
      },
    })
    const fetchStream = (request: Request) =>
      fetch(request.url, { method: 'POST', headers: request.headers, body, duplex: 'half' } as RequestInit)

    const answer = await operatorApi({ url: service.url, fetch: fetchStream }).post('run', 'in its place')
    end()

    expect([answer.status, answer.body.error]).toEqual([413, 'PayloadTooLargeError'])
  })

  test('limits: a payload that the engine would reject, or that would terminate the run (threat 56)', async () => {
    const { service } = api()
    const { workflowId } = await startMessages(api())
    const payload = 'x'.repeat(2 * MEBIBYTE - 8 * 1024)

    const run = await service.run('echo', payload)
    const update = await service.post(`${workflowId}/update/set`, { payload })
    const halves = await service.post(`${workflowId}/signal/add`, {
      args: [payload.slice(MEBIBYTE), payload.slice(-MEBIBYTE)],
    })
    const after = await service.post(`${workflowId}/update/set`, { payload: 'small' })

    const expected = [413, 'PayloadTooLargeError', 'gateway']
    const found = [run, update, halves].map(({ status, body }) => [status, body.error, body.source])
    expect(found).toEqual([expected, expected, expected])
    expect(after.status).toBe(200)
    await service.post(`${workflowId}/signal/finish`)
  })

  test('limits: two of the engine’s three size errors', async () => {
    const { restrictedService } = api()

    const blob = await restrictedService.run('echo', 'x'.repeat(3 * MEBIBYTE))
    const message = await restrictedService.run('echo', 'x'.repeat(5 * MEBIBYTE))

    const expected = [413, 'PayloadTooLargeError', 'engine']
    expect([blob, message].map(({ status, body }) => [status, body.error, body.source])).toEqual([expected, expected])
  })

  test('limits: values just below the limits are accepted', async () => {
    const { status, body } = await api().service.run('echo', 'x'.repeat(1.9 * MEBIBYTE))

    expect([status, body.status, body.output.length]).toEqual([200, 'completed', Math.floor(1.9 * MEBIBYTE)])
  })

  test('limits: a body that stays incomplete is rejected, and the connection is closed (threat 46)', async () => {
    const problem = await sendIncomplete(api(), 100)

    expect([problem.status, problem.error]).toEqual([408, 'RequestTimeoutError'])
  })

  test('limits: an eleventh update of a run while ten are in flight', async () => {
    const { service } = api()
    const { workflowId } = await startMessages(api())
    const wait = () => service.post(`${workflowId}/update/wait`, { payload: 600_000 })
    const waiting = Array.from({ length: 10 }, wait)
    await until('all ten are accepted', async () => {
      const { body } = await service.get(`${workflowId}/trace-log`)
      return body.data.children.filter(({ kind }: { kind: string }) => kind === 'update').length === 10
    })

    const eleventh = await service.post(`${workflowId}/update/wait`, { payload: 1 })
    await service.post(`${workflowId}/terminate`)

    const facts = [eleventh.status, eleventh.body.error, eleventh.body.source]
    expect(facts).toEqual([429, 'ResourceExhaustedError', 'engine'])
    expect(eleventh.headers.get('Retry-After')).toBe('1')
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 409))
  })

  test('limits: a second query of a run while one waits for a worker', async () => {
    const { restrictedService } = api()
    const { workflowId } = await startDirectly(api(), 'messages', { taskQueue: `nobody-${anId()}` })

    const ask = () => restrictedService.post(`${workflowId}/query/state`)

    // On a slow machine the first query can be over before the last one arrives.
    const told = await until('three queries overlap', async () => {
      const answers = await Promise.all([ask(), ask(), ask()])
      const sorted = answers.toSorted((one, other) => one.status - other.status)
      return sorted[1]?.status === 429 ? sorted : null
    })

    expect(told.map(({ status, body, headers }) => [status, body.error, headers.get('Retry-After')])).toEqual([
      [429, 'ResourceExhaustedError', '1'],
      [429, 'ResourceExhaustedError', '1'],
      [504, 'DeadlineExceededError', null],
    ])
  })
}

/**
 * Sends the beginning of a body, and returns the problem that answers it. A client that sends all of a body that is
 * rejected may lose the response, because the connection closes meanwhile.
 */
async function sendIncomplete({ service, hasGap }: ApiFixture, contentLength: number) {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${AUTHORIZED.Authorization}\r\nContent-Type: application/json\r\nContent-Length: ${contentLength}\r\n\r\n{"workflowName"`,
  )

  const answer = await (hasGap('closing-connections') ? untilAnswered(socket) : text(socket))

  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const problem = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))
  seen('POST', '/workflow/run', { status: Number(statusLine.split(' ')[1]), headers, text: body, body: problem })
  return problem
}

/** The first answer, however long the connection stays open after it. */
async function untilAnswered(socket: Socket): Promise<string> {
  let answer = ''
  for await (const chunk of socket) {
    answer += chunk
    if (/\r\n\r\n.*\}/s.test(answer)) break
  }
  return answer
}
