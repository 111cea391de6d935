/** What workflows ask people: docs/api/messages.md#questions. */
import * as z from 'zod/mini'
import { endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { BODY_ERRORS, ENGINE_ERRORS, RUN_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { requiredText } from './fields/names.ts'
import { pageParameters, queryInteger } from './fields/query-values.ts'
import { filterParameters } from './runs.ts'

const { status: _, problem: __, ...filters } = filterParameters

const DEFAULT_RUNS = 200

const questions = endpointOf('questions', {
  method: 'get',
  path: '/questions',
  id: 'listQuestions',
  tag: 'Find',
  summary: 'List what workflows ask people',
  docs: 'api/messages.md#questions',
  query: z.strictObject({
    to: optional(z.array(requiredText), 'Only questions for this name. Can be repeated'),
    ...filters,
    ...pageParameters,
    pageSize: optional(queryInteger(1, 1000), 'How many runs to read, also those without a question. Default 200'),
  }),
  lists: ['to'],
  responses: { 200: { description: 'The questions of open runs', schema: schemaOf('QuestionPage') } },
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError', 'PayloadCodecError'],
  takes: 'work',
  key: 'ignored',
  input: ({ query: { to = [], pageSize = DEFAULT_RUNS, pageToken = null, ...filter } }) => ({
    ...{ filter, to, pageSize, pageToken },
  }),
})

const questionsOf = endpointOf('questionsOf', {
  method: 'get',
  path: '/workflow/:id/questions',
  id: 'getWorkflowQuestions',
  tag: 'Inspect',
  summary: 'Get what the run asks people',
  docs: 'api/messages.md#questions',
  responses: { 200: { description: 'The open questions', schema: schemaOf('RunQuestions') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ ref }) => ({ ref }),
})

const answerRequest = {
  name: 'AnswerRequest',
  schema: z.strictObject({
    content: optional(z.unknown(), 'The answer, which must match the schema of the question. Default: `{}`'),
  }),
  isRequired: false,
  adviceFor: () => 'wrap the answer: {"content": …}',
} satisfies RequestBody<unknown>

const answer = endpointOf('answer', {
  method: 'post',
  path: '/workflow/:id/questions/:questionKey/answer',
  id: 'answerWorkflowQuestion',
  tag: 'Messages',
  summary: 'Answer a question, once for all callers',
  docs: 'api/messages.md#questions',
  body: answerRequest,
  responses: {
    200: { description: 'The answer is recorded, by this request or an earlier one', schema: schemaOf('Answered') },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    'QuestionNotFoundError',
    'QuestionAnsweredError',
    'WorkflowNotRunningError',
    'DeadlineExceededError',
  ],
  takes: 'work',
  key: 'ignored',
  input: ({ ref, questionKey: key, body: { content = {} } }) => ({ ref, key, content, pointer: '' }),
  output: ({ at, ...answered }) => ({ ...answered, answered: true, at }),
})

export const questionEndpoints = [questions, questionsOf, answer]
