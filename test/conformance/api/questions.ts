import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type ApiFixture, anId, startDirectly } from './api-fixture.ts'

/** GET questions of all runs and of one, and POST answers. */
export function questions(api: () => ApiFixture): void {
  const get = (path: string) => api().service.call('GET', path)
  const answer = (path: string, content: unknown) => api().service.post(path, { content })

  /** A run that asks, and the path of the answer. */
  async function asking(input: object = {}) {
    const { body: run } = await api().service.start('asksPerson', input, { workflowId: anId() })
    const [workflowId, runId] = [String(run.workflowId), String(run.runId)]
    const questionsOf = async () => (await get(`/workflow/${workflowId}/questions`)).body.questions
    await until('the workflow asks', async () => (await questionsOf()).length > 0)
    return { workflowId, runId, questionsOf, path: `${workflowId}/questions/question-1/answer` }
  }

  test('questions: those of one run and of all runs are the same, for those who are named', async () => {
    const to = `team-${anId()}`
    const run = await asking({ to: [to] })
    const listed = async (...names: string[]) => {
      const to = names.map((name) => `&to=${name}`).join('')
      const { body } = await get(`/questions?workflowName=asksPerson&pageSize=1000${to}`)
      return body.questions
    }

    const all = await until('it is listed', async () => {
      const found = await listed(`other-${to}`, to)
      return found.length > 0 && found
    })
    const others = await listed(`other-${to}`)
    const rejected = await Promise.all(['status=running', 'problem=true'].map((one) => get(`/questions?${one}`)))

    expect(all).toEqual([
      {
        ...{ workflowId: run.workflowId, runId: run.runId, workflowName: 'asksPerson', key: 'question-1' },
        ...{ catalog: expect.any(String), message: 'Refund 250 EUR?', signal: 'answer', to: [to], mayAnswer: true },
        schema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
        ...{ askedAt: '2026-11-28T08:00:00.000Z', due: '2026-12-01T08:00:00.000Z' },
      },
    ])
    expect(await run.questionsOf()).toEqual(all)
    expect(others).toEqual([])
    expect(rejected.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([400, 'ValidationError']))
    await answer(run.path, { approved: true })
  })

  test('questions: a page counts runs, also those that ask nothing, and the next one needs the same filter', async () => {
    const prefix = anId()
    const ids = ['asking', 'silent'].map((name) => `${prefix}-${name}`)
    await api().service.start('asksPerson', {}, { workflowId: ids[0] })
    await api().service.start('waitForSignal', null, { workflowId: ids[1] })
    const query = `query=${encodeURIComponent(`WorkflowId STARTS_WITH "${prefix}"`)}`
    await until('both are listed, and one asks', async () => {
      const [runs, questions] = await Promise.all([get(`/workflow/runs?${query}`), get(`/questions?${query}`)])
      return runs.body.runs.length === 2 && questions.body.questions.length === 1
    })

    const pages: { questions: object[]; nextPageToken: string | null }[] = []
    do {
      const token = pages.at(-1)?.nextPageToken
      pages.push((await get(`/questions?${query}&pageSize=1${token ? `&pageToken=${token}` : ''}`)).body)
    } while (pages.at(-1)?.nextPageToken)
    const other = await get(`/questions?pageSize=1&pageToken=${pages[0]?.nextPageToken}`)
    await Promise.all(ids.map((id) => api().service.post(`${id}/terminate`)))

    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flatMap(({ questions }) => questions)).toMatchObject([{ workflowId: ids[0], key: 'question-1' }])
    expect([other.status, other.body.error]).toEqual([400, 'InvalidPageTokenError'])
  })

  test('answer: the first one counts, also before the workflow has taken it and after it has ended', async () => {
    const { workflowId, runId, questionsOf, path } = await asking()
    await api().service.post(`${workflowId}/pause`)

    const invalid = await answer(path, { approved: 'yes' })
    const first = await answer(path, { approved: true })
    const repeated = await answer(path, { approved: true })
    const other = await answer(path, { approved: false })
    await api().service.post(`${workflowId}/unpause`)
    const { body: result } = await get(`/workflow/${workflowId}/result?wait=60s`)
    const { events } = await api().client.workflow.getHandle(workflowId).fetchHistory()
    const late = await answer(path.replace('/', `/runs/${runId}/`), { approved: false })

    expect([invalid.status, invalid.body.issues]).toEqual([
      400,
      [expect.objectContaining({ path: '/content/approved' })],
    ])
    expect([first.status, first.body]).toEqual([
      200,
      { workflowId, runId, key: 'question-1', answered: true, at: expect.any(String) },
    ])
    expect([repeated.status, repeated.body]).toEqual([200, first.body])
    for (const { status, body } of [other, late])
      expect([status, body]).toMatchObject([
        409,
        { error: 'QuestionAnsweredError', workflowId, runId, key: 'question-1', at: first.body.at },
      ])
    expect(result.output).toEqual([{ approved: true }])
    expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1)
    expect(await questionsOf()).toEqual([])
  })

  test('answer: while a worker executes the workflow, one that is not recorded in time is a 504', async () => {
    const [taskQueue, { client }] = [anId(), api()]
    const $asks = { 'question-1': { signal: 'answer', message: 'Refund 250 EUR?', schema: { type: 'object' } } }
    const { workflowId } = await startDirectly(api(), 'nothing', {
      ...{ taskQueue, workflowTaskTimeout: '2m', memo: { $asks } },
    })
    const poll = { namespace: 'default', taskQueue: { name: taskQueue } }
    await client.withDeadline(Date.now() + 60_000, () => client.connection.workflowService.pollWorkflowTaskQueue(poll))

    const { status, body } = await answer(`${workflowId}/questions/question-1/answer`, { approved: true })
    await api().service.post(`${workflowId}/terminate`)

    expect([status, body.error, body.workflowId]).toEqual([504, 'DeadlineExceededError', workflowId])
    expect(body.message).toMatch(/^The answer was delivered, but /)
  })

  test('answer: an unknown question is 404, and one of a run that ended without an answer 409', async () => {
    const { workflowId, path } = await asking()

    const unknown = await answer(path.replace('question-1', 'question-2'), { approved: true })
    await api().service.post(`${workflowId}/terminate`)
    const ended = await answer(path, { approved: true })
    const nowhere = await answer(`${anId()}/questions/question-1/answer`, { approved: true })

    expect([unknown, ended, nowhere].map(({ status, body }) => [status, body.error])).toEqual([
      [404, 'QuestionNotFoundError'],
      [409, 'WorkflowNotRunningError'],
      [404, 'WorkflowNotFoundError'],
    ])
  })
}
