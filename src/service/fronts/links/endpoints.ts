/** One-use links: clients create them, and people use them in a browser. docs/links.md describes them. */
import type { Context } from 'hono'
import { type Env, withWarnings } from '../../http/context.ts'
import { endpoint, endpointOf, type Service } from '../../http/endpoint.ts'
import { BODY_ERRORS, ENGINE_ERRORS, RUN_ERRORS } from '../../http/endpoints/errors.ts'
import { ref as schemaOf } from '../../http/openapi/schema.ts'
import type { ErrorName } from '../../model/errors.ts'
import { holderOf } from '../../model/link.ts'
import { linkAnswer, linkRequest } from './link-fields.ts'
import { toLinkState } from './link-state.ts'
import { type Opened, respondToHolder } from './respond.ts'

const createLink = endpointOf('createLink', {
  method: 'post',
  path: '/workflow/:id/links',
  id: 'createWorkflowLink',
  tag: 'Links',
  summary: 'Create a link with which a person answers once',
  docs: 'links.md#api',
  body: linkRequest,
  responses: {
    201: { description: 'The link', schema: schemaOf('CreatedLink'), headers: ['Portico-Warning'] },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    'ActivityNotFoundError',
    'QuestionNotFoundError',
    'QuestionAnsweredError',
    'WorkflowNotRunningError',
  ],
  takes: 'work',
  key: 'rejected',
  status: 201,
  input: ({ ref, body }) => ({ ref, ...body }),
  output: ({ warnings, ...link }, { c }) => withWarnings(c, link, warnings),
})

/** Opens the link. Its holder is the caller from then on. */
async function open(c: Context<Env>, opened: Opened, openLink: Service['openLink'], token: string) {
  const { link, workflows } = await openLink(token)
  const { linkId, namespace } = link
  Object.assign(c.get('facts'), { linkId, namespace })
  c.set('caller', holderOf(link))
  opened.link = link
  return { link, workflows }
}

const HEADERS = ['Content-Security-Policy', 'Referrer-Policy', 'X-Robots-Tag'] as const

const LINK_ERRORS: readonly ErrorName[] = [
  ...ENGINE_ERRORS,
  'LinkNotFoundError',
  'LinkExpiredError',
  'WorkflowNotFoundError',
  'ActivityNotFoundError',
  'QuestionNotFoundError',
  'PayloadCodecError',
  'WorkflowNotRunningError',
]

const PAGES = 'JSON with `Accept: application/json`, otherwise a page. Errors are pages with `Accept: text/html`'

const getLink = endpoint({
  method: 'get',
  path: '/links/:token',
  id: 'getLink',
  tag: 'Links',
  summary: 'Get what a link asks, or how it was answered; changes nothing',
  docs: 'links.md#api',
  description: PAGES,
  responses: {
    200: { description: 'The link', schema: schemaOf('LinkState'), text: ['text/html'], headers: HEADERS },
  },
  errors: LINK_ERRORS,
  takes: 'work',
  key: 'ignored',
  access: null,
  isOfService: true,
  handle: (c, { token, call, openLink }) =>
    respondToHolder(c, async (opened) => {
      const { link, workflows } = await open(c, opened, openLink, token(c))
      const answer = await workflows.readLink({ link }, call(c))
      return {
        json: toLinkState(link, answer),
        view: answer === null ? { state: 'open' } : { state: 'answered', answer },
      }
    }),
})

const answerLink = endpoint({
  method: 'post',
  path: '/links/:token',
  id: 'answerLink',
  tag: 'Links',
  summary: 'Answer, once for all who have the link',
  docs: 'links.md#api',
  description: PAGES,
  body: linkAnswer,
  responses: {
    200: {
      description: 'The choice is recorded, by this request or an earlier one',
      schema: schemaOf('UsedLink'),
      text: ['text/html'],
      headers: HEADERS,
    },
  },
  errors: [
    ...LINK_ERRORS,
    ...BODY_ERRORS,
    'LinkUsedError',
    'HandlerNotFoundError',
    'UpdateFailedError',
    'TooManyRequestsError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'wait',
  key: 'rejected',
  access: null,
  isOfService: true,
  handle: (c, { token, body, call, openLink, admitAnswer }) =>
    respondToHolder(c, async (opened) => {
      const { link, workflows } = await open(c, opened, openLink, token(c))
      admitAnswer(link)
      const used = await workflows.useLink({ link, ...(await body(c)) }, call(c))
      return { json: used, view: { state: 'recorded', used } }
    }),
})

export const linkEndpoints = [createLink, getLink, answerLink]
