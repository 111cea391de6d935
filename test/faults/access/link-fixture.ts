/** A service with links, callers who create them, and what the holder of a link sends. */
import { randomBytes } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import * as z from 'zod'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { type Answer, type Api, makeApi } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import type * as workflows from '../../support/workflows.ts'
import { historyLengthOf, startCallers, tokenRule } from './callers.ts'

export const BASE = 'https://portico.example/base'
export const [OLD_KEY, NEW_KEY] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
export const LINKS = { SERVICE_SIGNING_KEY: OLD_KEY, SERVICE_PUBLIC_URL: BASE }

const decision = z.strictObject({ ok: z.boolean(), comment: z.string().min(3).optional() })
const catalog = defineCatalog<Pick<typeof workflows, 'chainOnSignal' | 'messages'>>({
  messages: {
    signals: { add: { input: decision }, finish: {} },
    updates: { set: {}, fails: {}, validated: { input: z.number() } },
  },
  chainOnSignal: {},
})

export const RULES = [
  tokenRule('mailer', { can: ['start', 'link', 'signal', 'update'], ids: ['mail:*'] }),
  tokenRule('narrow', { can: ['start', 'link', 'signal:finish'], ids: ['mail:*'], workflows: ['messages'] }),
  tokenRule('split', { can: ['link'], ids: ['mail:*'] }),
  tokenRule('sender', { can: ['signal'], ids: ['mail:*'] }),
]

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog }))
  .extend('callers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) =>
    startCallers({ serve, cleanup, rules: RULES, env: LINKS }),
  )
  /** Another replica, with a newer key. */
  .extend('other', { scope: 'file' }, ({ serve, callers }) => {
    const { service, policyOf } = callers
    const env = { ...LINKS, SERVICE_SIGNING_KEY: `${NEW_KEY},${OLD_KEY}`, SERVICE_CATALOG_ID: service.catalog }
    return serve({ ...env, SERVICE_POLICY: JSON.stringify(policyOf(...RULES)) })
  })

export const JSON_ANSWER = { Accept: 'application/json' }
export const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
export const FORM = { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' }

export const APPROVE = { label: 'Approve', payload: { ok: true } }
export const REJECT = { label: 'Reject', payload: { ok: false }, style: 'danger' }
export const QUESTION = {
  title: 'Refund 120 EUR?',
  details: [{ label: 'Order', value: '17' }],
  signal: 'add',
  choices: [APPROVE, REJECT],
}

export async function startRun(api: Api, client: Client, workflowName = 'messages') {
  const { body } = await api.start(workflowName, null, { workflowId: `mail:${crypto.randomUUID()}` })
  const length = await historyLengthOf(client, body.workflowId)
  return { workflowId: body.workflowId, runId: body.runId, length }
}

/** Creates a link, and returns its path below the base of the service. */
export async function linkTo(api: Api, run: { workflowId: string }, more: object = {}): Promise<string> {
  const { status, body } = await api.post(`${run.workflowId}/links`, { ...QUESTION, ...more })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.url.slice(BASE.length)
}

export const publicApi = ({ fetch }: { fetch(request: Request): Promise<Response> }) => makeApi({ fetch, token: '' })

/** What a browser gets, and sends with the form of the page. */
export async function browse({ fetch }: { fetch(request: Request): Promise<Response> }, path: string, form?: string) {
  const sent = form === undefined ? { headers: HTML } : { method: 'POST', headers: FORM, body: form }
  const response = await fetch(new Request(`http://portico.test${path}`, sent))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export const errorOf = ({ status, body }: Answer) => [status, body.error]

export async function eventsOf(client: Client, { workflowId, runId }: { workflowId: string; runId: string }) {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? []
}
