/** Answers to one question by many callers, at two replicas. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { newId } from '../../../src/shared/lib/new-id.ts'
import { makeApi } from '../../support/api.ts'
import { twentyAnswers } from '../../support/twenty-answers.ts'
import { type Callers, startCallers, testWithCallers, tokenRule, untilAsked } from './callers.ts'

const RULES = [
  ...Array.from({ length: 20 }, (_, at) => tokenRule(`person-${at}`, { can: ['read', 'signal:answer'] })),
  tokenRule('reader', { can: ['list', 'read', 'signal:other'] }),
  tokenRule('lister', { can: ['list'] }),
  tokenRule('signaler', { can: ['list', 'signal:answer'] }),
  tokenRule('mailer', { can: ['link', 'read', 'signal:answer'] }),
  tokenRule('other-mailer', { can: ['link', 'read', 'signal:other'] }),
  tokenRule('blind-mailer', { can: ['link', 'signal:answer'] }),
  tokenRule('split', { can: ['list'] }),
  { ...tokenRule('split', { can: ['read'], workflows: ['asks*'] }), name: 'split-read' },
  tokenRule('elsewhere', { can: ['list', 'read', 'signal'], ids: ['other-*'] }),
]

const ENV = { SERVICE_PUBLIC_URL: 'https://portico.example' }

const test = testWithCallers(RULES, ENV).extend('replica', { scope: 'file' }, ({ serve, cleanup, callers: _ }) =>
  startCallers({ serve, cleanup, rules: RULES, env: ENV }),
)

/** The path of a link to the question, without a title and choices of its own. */
async function linkTo(api: Callers['operator'], workflowId: string, more: object = {}) {
  const { status, body } = await api.post(`${workflowId}/links`, { question: 'question-1', ...more })
  return { status, body, path: String(body.url).slice(ENV.SERVICE_PUBLIC_URL.length) }
}

const holderAt = ({ service }: Callers) => makeApi({ fetch: service.fetch })

async function asking({ operator }: Pick<Callers, 'operator'>, input: object = {}) {
  const workflowId = `asking-${newId()}`
  const { body } = await operator.start('asksPerson', input, { workflowId })
  await untilAsked(operator, workflowId)
  return { workflowId, runId: String(body.runId), path: `${workflowId}/questions/question-1/answer` }
}

test('twenty callers answer at once by the API, as agents and with a link, at two replicas: one answer is recorded (threat 92)', async ({
  callers,
  replica,
  client,
}) => {
  const { workflowId, runId } = await asking(callers)
  const link = await linkTo(callers.operator, workflowId)

  const recorded = await twentyAnswers({ workflowId, runId }, link.path, (person) => {
    const portico = person % 2 === 0 ? callers : replica
    return { api: portico.as(`person-${person}`), holder: holderAt(portico) }
  })

  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory()
  expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1)
  expect(await client.workflow.getHandle(workflowId, runId).result()).toEqual([recorded])
})

test('a link to a question asks it, answers it, and is used once the question is answered (threat 63)', async ({
  callers,
}) => {
  const [first, second] = [await asking(callers), await asking(callers)]
  const holder = holderAt(callers)
  const [link, other] = [
    await linkTo(callers.as('mailer'), first.workflowId),
    await linkTo(callers.as('mailer'), second.workflowId, {
      title: 'Sure?',
      choices: [{ label: 'Fine', payload: { approved: true }, comment: 'optional' }],
    }),
  ]
  const accept = { Accept: 'application/json' }

  const open = await holder.call('GET', link.path, undefined, accept)
  const used = await holder.call('POST', link.path, { choice: 'No' })
  const same = await callers.operator.post(first.path, { content: { approved: false } })
  const late = await callers.operator.post(first.path, { content: { approved: true } })
  const invalid = await linkTo(callers.as('mailer'), second.workflowId, {
    choices: [{ label: 'Fine', payload: { approved: 'yes' } }],
  })
  await callers.operator.post(`${second.workflowId}/pause`)
  await callers.operator.post(second.path, { content: { approved: true } })
  const answered = await holder.call('POST', other.path, { choice: 'Fine', comment: 'go' })
  const again = await linkTo(callers.as('mailer'), second.workflowId)
  await callers.operator.post(`${second.workflowId}/unpause`)

  expect(open.body).toMatchObject({
    title: 'Refund 250 EUR?',
    choices: [
      { label: 'Yes', comment: 'none' },
      { label: 'No', comment: 'none' },
    ],
    state: 'open',
  })
  expect([used.status, used.body.recorded]).toEqual([200, 'No'])
  expect([same.status, same.body.at, late.status, late.body.at]).toEqual([200, used.body.at, 409, used.body.at])
  expect([invalid.status, invalid.body.issues[0].path]).toEqual([400, '/choices/0/payload/approved'])
  expect([answered.status, answered.body.error]).toEqual([409, 'LinkUsedError'])
  expect([again.status, again.body.error]).toEqual([409, 'QuestionAnsweredError'])
})

test('a link to a question: a comment that its schema rejects is a 400, and answers nothing', async ({ callers }) => {
  const comment = { type: 'string', maxLength: 10 }
  const { workflowId } = await asking(callers, {
    schema: { type: 'object', properties: { approved: { type: 'boolean' }, comment }, required: ['approved'] },
  })
  const choices = [{ label: 'Fine', payload: { approved: true }, comment: 'required' }]
  const { path } = await linkTo(callers.as('mailer'), workflowId, { choices })
  const answer = (comment: string) => holderAt(callers).call('POST', path, { choice: 'Fine', comment })

  const invalid = await answer('much too long')
  const { body: open } = await callers.operator.get(`${workflowId}/questions`)
  const valid = await answer('short')

  expect([invalid.status, invalid.body.error, invalid.body.issues]).toEqual([
    ...[400, 'ValidationError'],
    [expect.objectContaining({ path: '/comment' })],
  ])
  expect(open.questions).toHaveLength(1)
  expect([valid.status, valid.body.recorded]).toEqual([200, 'Fine'])
})

test('a link to a question has a choice for each value of its enum, and needs choices for any other form', async ({
  callers,
}) => {
  const plan = { type: 'string', enum: ['gold', 'silver'] }
  const schema = { type: 'object', properties: { plan, size: { type: 'integer' } } }
  const [one, two] = [
    await asking(callers, { schema: { ...schema, required: ['plan'] } }),
    await asking(callers, { schema: { ...schema, required: ['plan', 'size'] } }),
  ]
  const holder = holderAt(callers)
  const { path } = await linkTo(callers.as('mailer'), one.workflowId)

  const open = await holder.call('GET', path, undefined, { Accept: 'application/json' })
  const used = await holder.call('POST', path, { choice: 'silver' })
  const same = await callers.operator.post(one.path, { content: { plan: 'silver' } })
  const without = await linkTo(callers.as('mailer'), two.workflowId)
  await callers.operator.post(two.path, { content: { plan: 'gold', size: 1 } })

  expect(open.body.choices.map(({ label }: { label: string }) => label)).toEqual(plan.enum)
  expect([used.body.recorded, same.status]).toEqual(['silver', 200])
  expect([without.status, without.body.issues]).toEqual([400, [expect.objectContaining({ path: '/choices' })]])
})

test('a link to a question that the workflow has withdrawn is a 404, and sends nothing', async ({
  callers,
  client,
}) => {
  const { workflowId } = await asking(callers, { withdrawnBy: 'finish' })
  const { path } = await linkTo(callers.as('mailer'), workflowId)
  const holder = holderAt(callers)
  await callers.operator.post(`${workflowId}/signal/finish`)
  await until('it is withdrawn', async () => {
    return (await callers.operator.get(`${workflowId}/questions`)).body.questions.length === 0
  })

  const answers = [
    await holder.call('GET', path, undefined, { Accept: 'application/json' }),
    await holder.call('POST', path, { choice: 'Yes' }),
  ]
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  await callers.operator.post(`${workflowId}/terminate`)

  expect(answers.map(({ status, body }) => [status, body.error, body.workflowId])).toEqual(
    Array(2).fill([404, 'QuestionNotFoundError', undefined]),
  )
  expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1)
})

test('a link to a question needs read, and the verb link and its signal in one rule (threat 63)', async ({
  callers,
}) => {
  const { workflowId, path } = await asking(callers)
  const created = async (rule: string, question = 'question-1') => {
    const { status, body } = await linkTo(callers.as(rule), workflowId, { question })
    return [status, body.error]
  }

  expect(await created('mailer')).toEqual([201, undefined])
  expect(await created('mailer', 'question-2')).toEqual([404, 'QuestionNotFoundError'])
  expect(await created('other-mailer')).toEqual([404, 'QuestionNotFoundError'])
  expect(await created('person-1')).toEqual([403, 'ForbiddenError'])
  expect(await created('blind-mailer')).toEqual([403, 'ForbiddenError'])
  await callers.operator.post(path, { content: { approved: true } })
})

test('questions are those of runs that the caller may list and read, and an answer needs read and its signal (threat 25)', async ({
  callers,
}) => {
  const { workflowId, path } = await asking(callers)
  const listed = async (rule: string) => {
    const { body } = await callers.as(rule).call('GET', `/questions?pageSize=1000`)
    const own = body.questions.filter((question: { workflowId: string }) => question.workflowId === workflowId)
    return own.map(({ mayAnswer }: { mayAnswer: boolean }) => mayAnswer)
  }
  const answered = async (rule: string) => {
    const { status, body } = await callers.as(rule).post(path, { content: { approved: true } })
    return [status, body.action]
  }

  expect(await Promise.all(['reader', 'split', 'lister', 'elsewhere'].map(listed))).toEqual([[false], [false], [], []])
  expect((await callers.as('person-1').call('GET', '/questions')).status).toBe(403)
  expect((await callers.as('person-1').get(`${workflowId}/questions`)).body.questions).toMatchObject([
    { mayAnswer: true },
  ])
  expect(await Promise.all(['reader', 'lister', 'signaler', 'elsewhere'].map(answered))).toEqual([
    [403, 'signal:answer'],
    [403, 'signal'],
    [403, 'read'],
    [403, 'read'],
  ])
  expect(await answered('person-1')).toEqual([200, undefined])
})
