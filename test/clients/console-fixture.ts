/** What the tests of the console share: services that have it, workflows to show, and a browser. */
import { createHash } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import * as z from 'zod'
import * as examples from '../../examples/activities.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import * as activities from '../support/activities.ts'
import { makeApi } from '../support/api.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import type * as workflows from './console-workflows.ts'
import { newPage, watchProblems } from './page-checks.ts'

export const OPERATOR = 'first+secret/token=='
/** May read everything, and do nothing. */
export const VIEWER = 'second+secret/token=='
/** May do everything with runs of which there are none yet. */
export const NEWCOMER = 'third+secret/token=='

/** Waits for approval before it ships. */
export const LARGE_ORDER = { orderId: '1', amount: 250, card: '4242' }

const catalog = defineCatalog<typeof workflows>({
  greet: { description: 'Greets somebody.', input: z.object({ name: z.string().min(1) }), output: z.string() },
  order: {
    description: 'Ships an order. Above 100 it waits for approval.',
    input: z.object({ orderId: z.string().min(1), amount: z.number(), card: z.string() }),
    signals: { approve: { input: z.object({ by: z.string().min(1) }) } },
    queries: { progress: {} },
    updates: { priority: { input: z.object({ level: z.enum(['low', 'normal', 'high']) }) } },
  },
  refund: {},
  pair: {},
  steps: { input: z.number() },
  trip: { input: z.string(), signals: { book: {} } },
  everyField: {
    description: 'Takes a value of each kind.',
    input: z.object({
      text: z.string().max(20).describe('A few words.'),
      longText: z.string().max(1000).optional(),
      day: z.iso.date().optional(),
      at: z.iso.datetime().optional(),
      number: z.number().min(0).nullable(),
      whole: z.int().optional(),
      isUrgent: z.boolean(),
      level: z.enum(['low', 'high']).optional(),
      address: z.object({ street: z.string(), lines: z.array(z.string()) }),
      more: z.object({ note: z.string() }).optional(),
      anything: z.record(z.string(), z.unknown()).optional(),
    }),
  },
  chain: {},
  failInChild: {},
  failTask: {},
  failWithCauses: {},
  neverEnds: {},
  reportsProgress: {},
  retriedLater: {},
  streamItselfFirst: { signals: { finish: {} } },
})

function rule(name: string, token: string, rights: object): object {
  return { name, who: { token: [`sha256:${createHash('sha256').update(token).digest('hex')}`] }, ...rights }
}

const RULES = [
  rule('viewer', VIEWER, { can: ['read', 'list'] }),
  rule('newcomer', NEWCOMER, { can: ['*'], ids: ['nobody:*'] }),
]

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('./console-workflows.ts', import.meta.url),
    activities: { ...activities, ...examples, validate: async () => {} },
    catalog,
  }))
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_CONSOLE_ON: 'true' }))
  /** A service that asks who the visitor is. */
  .extend('guardedService', { scope: 'file' }, ({ startService, worker: _ }) =>
    startService({
      env: {
        SERVICE_CONSOLE_ON: 'true',
        SERVICE_HOST: '127.0.0.1',
        SERVICE_BASE_PATH: '/portico',
        SERVICE_API_AUTH_TOKEN: OPERATOR,
        SERVICE_POLICY: JSON.stringify({ version: 1, rules: RULES }),
      },
    }),
  )

test.beforeAll(async ({ serviceProcess }) => {
  await until('the catalog is published', async () => (await fetch(`${serviceProcess.url}/workflow/catalog`)).ok)
})

export function apiOf({ url }: { url: string }) {
  return { url, ...makeApi({ url }) }
}

/** `problems`: errors on the console, also those of the content security policy, and requests to other hosts. */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await newPage(browser, options)
  const problems = watchProblems(page, [new URL(url).origin])
  await page.goto(url)
  return { page, problems }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token or JWT').fill(token)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** A headless browser shows every page. */
export async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)
}
