import { expect, test } from 'vitest'
import type { Answer } from '../../support/api.ts'
import { answersTo, changedBytes, forgeToken, positionIn } from '../../support/forge-token.ts'
import { type ApiFixture, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

interface Event {
  eventId: number
  eventType: string
  [attribute: string]: unknown
}

/** GET history. */
export function history(api: () => ApiFixture): void {
  const get = (run: string, parameters = ''): Promise<Answer> => api().service.get(`${run}/history${parameters}`)
  const eventsOf = ({ body }: Answer): Event[] => body.events

  test('history: has the run and its events, of the latest and of a pinned run', async () => {
    const { body: ran } = await api().service.run('everyKind', { a: 1, apiKey: 'k' })
    const { workflowId, runId } = ran

    const latest = await get(workflowId)
    const pinned = await get(`${workflowId}/runs/${runId.toUpperCase()}`)

    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const events = eventsOf(latest)
    expect([latest.status, latest.body.workflow, latest.body.nextPageToken]).toEqual([
      200,
      {
        workflowId,
        runId,
        status: 'completed',
        startedAt: instant,
        completedAt: instant,
        historyLength: events.length,
        catalog: api().catalog,
      },
      null,
    ])
    expect(events[0]).toMatchObject({
      eventId: 1,
      eventType: 'WorkflowExecutionStarted',
      eventTime: instant,
      input: [{ a: 1, apiKey: '[redacted]' }],
    })
    expect(events.at(-1)).toMatchObject({
      eventType: 'WorkflowExecutionCompleted',
      result: [{ a: 1, apiKey: '[redacted]' }],
    })
    expect(pinned.body).toEqual(latest.body)
  })

  test('history: pages have every event once, also without payloads', async () => {
    const { body: ran } = await api().service.run('everyKind', { a: 1 })
    const whole = eventsOf(await get(ran.workflowId))

    const pages: Answer[] = []
    for (let token: string | null = ''; token !== null; token = pages.at(-1)?.body.nextPageToken)
      pages.push(await get(ran.workflowId, `?pageSize=9&includePayloads=false${token && `&pageToken=${token}`}`))

    const paged = pages.flatMap(eventsOf)
    expect(paged.map(({ eventId, eventType }) => [eventId, eventType])).toEqual(
      whole.map(({ eventId, eventType }) => [eventId, eventType]),
    )
    expect(pages.map((page) => eventsOf(page).length).every((length) => length <= 9)).toBe(true)
    expect(paged.flatMap(({ input, result }) => [input, result]).filter((value) => value !== undefined)).toEqual([])
  })

  test('history: waits for the next event of an open run', async () => {
    const { workflowId } = await startMessages(api())
    const first = await get(workflowId)
    const token: string = first.body.nextPageToken

    const nothing = await get(workflowId, `?pageToken=${token}&wait=50`)
    const waiting = get(workflowId, `?pageToken=${token}&wait=20s`)
    await api().service.post(`${workflowId}/signal/finish`)
    const waited = await waiting

    expect([nothing.status, nothing.body.events, typeof nothing.body.nextPageToken]).toEqual([200, [], 'string'])
    expect(eventsOf(waited)[0]).toMatchObject({ eventType: 'WorkflowExecutionSignaled', signalName: 'finish' })
    await untilStatus(api(), workflowId, 'completed')
    const rest = await get(workflowId, `?pageToken=${token}`)
    expect([rest.body.workflow.status, rest.body.nextPageToken]).toEqual(['completed', null])
    expect([...eventsOf(first), ...eventsOf(rest)]).toEqual(eventsOf(await get(workflowId)))
  })

  test('history: stays with its run when that continues as a new one', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'chainOnSignal', { args: [1] })
    const first = await get(workflowId)
    await api().service.post(`${workflowId}/signal/next`)
    await untilStatus(api(), workflowId, 'continued', { runId })

    const rest = await get(workflowId, `?pageToken=${first.body.nextPageToken}`)

    expect(rest.body.workflow).toMatchObject({ runId, status: 'continued' })
    expect(eventsOf(rest).at(-1)).toMatchObject({ eventType: 'WorkflowExecutionContinuedAsNew' })
    expect(rest.body.nextPageToken).toBeNull()
    await api().service.post(`${workflowId}/terminate`)
  })

  test('history: a token of another workflow or run, or a damaged one, is rejected', async () => {
    const { body: one } = await api().service.run('everyKind')
    const { body: other } = await api().service.run('everyKind')
    const token = (await get(one.workflowId, '?pageSize=1')).body.nextPageToken
    const wrong = [
      [other.workflowId, token],
      [`${one.workflowId}/runs/${other.runId}`, token],
      [one.workflowId, token.slice(1)],
      [one.workflowId, 'x'],
    ]

    const answers = await Promise.all(wrong.map(([run, text]) => get(run, `?pageToken=${text}`)))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      wrong.map(() => [400, 'InvalidPageTokenError']),
    )
    expect((await get(`${one.workflowId}/runs/${one.runId}`, `?pageToken=${token}`)).status).toBe(200)
  })

  test('history: a forged token with the right hash is rejected too, whatever it contains (threat 42)', async () => {
    const { workflowId, runId } = await startMessages(api())
    const request = { namespace: 'default', history: workflowId }
    const start = { runId, after: 0, page: null, live: null }
    const positions = [
      { ...start, page: 'AAAA' },
      { ...start, runId: 'zzz' },
      { ...start, runId: `${runId}'` },
      { ...start, after: -1 },
      { ...start, after: '1' },
      { ...start, page: 'not base64' },
      [],
    ].map((position) => JSON.stringify(position))
    const forged = await Promise.all([...positions, 'not JSON'].map((position) => forgeToken(request, position)))

    const answers = await Promise.all(
      forged.flatMap((token) => ['', '&wait=1s'].map((wait) => get(workflowId, `?pageToken=${token}${wait}`))),
    )
    // Only a wait uses it.
    const live = await forgeToken(request, JSON.stringify({ ...start, after: 4, live: btoa('garbage') }))
    answers.push(await get(workflowId, `?pageToken=${live}&wait=1s`))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [400, 'InvalidPageTokenError']),
    )
    await api().service.post(`${workflowId}/terminate`)
  })

  test('history: a forged token with a position of another run is rejected too', async () => {
    const [{ body: own }, { body: other }] = [
      await api().service.run('everyKind'),
      await api().service.run('everyKind'),
    ]
    const request = { namespace: 'default', history: own.workflowId }
    const pageOf = async (run: { workflowId: string }) => {
      const { body } = await get(run.workflowId, '?pageSize=3')
      const next = await get(run.workflowId, `?pageSize=3&pageToken=${body.nextPageToken}`)
      return JSON.parse(Buffer.from(next.body.nextPageToken, 'base64url').toString().slice(HASH_LENGTH))
    }
    const ofOther = await pageOf(other)
    expect(ofOther.page).toEqual(expect.any(String))
    const foreign = [ofOther, { ...ofOther, live: ofOther.page }].map((position) => ({ ...position, runId: own.runId }))
    const tokens = await Promise.all(foreign.map((position) => forgeToken(request, JSON.stringify(position))))

    const answers = await Promise.all(tokens.map((token) => get(own.workflowId, `?wait=1s&pageToken=${token}`)))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      foreign.map(() => [400, 'InvalidPageTokenError']),
    )
  })

  test.for(['page', 'live'])(
    'history: a forged token with a changed byte in its %s is rejected, or is another position (threat 42)',
    async (part) => {
      const { body: own } = await api().service.run('everyKind')
      const request = { namespace: 'default', history: own.workflowId }
      const page = async (token = '') => (await get(own.workflowId, `?pageSize=3${token}`)).body.nextPageToken
      const position = positionIn(await page(`&pageToken=${await page()}`))
      const forged = await Promise.all(
        changedBytes(position.page).map((changed) =>
          forgeToken(request, JSON.stringify({ ...position, live: null, [part]: changed })),
        ),
      )

      const answers = await answersTo(forged, (token) => get(own.workflowId, `?wait=1s&pageToken=${token}`))

      const kinds = answers.map(({ status, body }) => [status, body.error])
      expect(kinds).toContainEqual([400, 'InvalidPageTokenError'])
      expect(kinds.filter(([status, error]) => status !== 200 && error !== 'InvalidPageTokenError')).toEqual([])
    },
  )

  test('history: invalid parameters are rejected by name, and a missing execution is 404', async () => {
    const wrong = ['pageSize=0', 'pageSize=1001', 'wait=61s', 'wait=soon', 'includePayloads=yes', 'order=desc']

    const answers = await Promise.all(wrong.map((parameter) => get('x', `?${parameter}`)))

    expect(answers.map(({ status, body }) => [status, body.issues?.[0]?.path])).toEqual(
      wrong.map((parameter) => [400, `/${parameter.split('=')[0]}`]),
    )
  })
}

// What precedes the position in a token.
const HASH_LENGTH = 24
