/** Every screen of the console in each of its states, at two sizes and in two colors. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { apiOf, LARGE_ORDER, NEWCOMER, open, signIn, test, VIEWER } from './console-fixture.ts'
import { PATIENT, violations } from './page-checks.ts'

const LOOKS = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, height: 900, colorScheme })),
)

const TAG = crypto.randomUUID()
const EMPTY_CATALOG = `empty-${TAG}`

/** Goes to a state of the page that is open, and returns what shows that it is there. */
type Show = (page: Page) => Promise<Locator>

const seen =
  (text: string | RegExp): Show =>
  async (page) =>
    page.getByText(text).first()

const pressed =
  (name: string, then: Show): Show =>
  async (page) => {
    await page.getByRole('button', { name }).first().click()
    return then(page)
  }

const followed =
  (name: string, then: Show): Show =>
  async (page) => {
    await page.getByRole('link', { name }).click()
    return then(page)
  }

const chosen =
  (step: string, then: Show): Show =>
  async (page) => {
    await page.getByRole('treeitem').filter({ hasText: step }).first().click()
    return then(page)
  }

const row: Show = async (page) => page.getByRole('row').nth(1)
const alert: Show = async (page) => page.getByRole('alert')
const dialog: Show = async (page) => page.getByRole('dialog')
const stepDetails: Show = async (page) => page.getByRole('region', { name: /^Details of/ })
const result: Show = pressed('Run', async (page) => page.getByRole('region', { name: 'Result' }))

/** By name: the page with its query, and its state. */
const SCREENS: Record<string, [at: string, show: Show]> = {
  'all runs': ['runs', row],
  'more runs': ['runs?workflowName=greet', pressed('Load more', async (page) => page.getByRole('row').nth(51))],
  'all filters': ['runs?workflowName=order&startedAfter=2026-01-01T00:00:00Z', row],
  'no run matches': ['runs?workflowName=unknown', seen('No run matches these filters')],
  'a filter that is wrong': ['runs?query=what', alert],
  'a run that waits for a message': [runAt('order'), seen('Send approve…')],
  'a message that is not valid': [
    runAt('order'),
    pressed(
      'Send approve…',
      pressed('Send signal', async (page) => page.locator('input:focus[aria-invalid]')),
    ),
  ],
  'the answer to a query': [runAt('order'), askForProgress],
  'a dialog': [runAt('order'), pressed('Terminate…', dialog)],
  'a run that waits for hours': [runAt('trip'), seen('True to scale')],
  'true to scale': [runAt('trip'), pressed('True to scale', seen('Shorten waits'))],
  'a step': [runAt('trip'), chosen('validate', stepDetails)],
  'a child': [runAt('trip'), chosen('greet', seen('Open the run of'))],
  'a zoomed timeline': [runAt('trip'), chosen('validate', pressed('Zoom to it', seen('›')))],
  'a reset': [runAt('trip'), chosen('validate', pressed('Reset to this step…', dialog))],
  'a run that tries again': [runAt('retrying'), seen('Try again now')],
  progress: [runAt('progress'), async (page) => page.getByRole('progressbar')],
  'a run that asks': [runAt('question'), async (page) => page.getByRole('button', { name: 'Answer' })],
  'a paused run': [runAt('paused'), seen('Unpause…')],
  'a stream': [runAt('stream'), pressed('Read it', async (page) => page.getByRole('log').getByText('numbers').first())],
  'a failed run': [runAt('failed'), seen('Failed after')],
  'a canceled run': [runAt('canceled'), seen('Canceled after')],
  'a terminated run': [runAt('terminated'), seen('Terminated after')],
  'a run that timed out': [runAt('timed-out'), seen('Timed out after')],
  'a continued run': [runAt('chain'), followed('Previous run', seen('Continued as a new run'))],
  'a run that no worker takes': [runAt('unclaimed'), seen('start a worker that polls')],
  'a run without its trace': [runAt('canceled'), withoutTrace],
  'no such run': [runAt('unknown'), alert],
  'all workflows': ['start', seen('Choose a workflow.')],
  'each kind of field': ['start?workflow=everyField', pressed('Add lines', pressed('Add more', seen('Remove more')))],
  'a form as JSON': ['start?workflow=everyField', pressed('Edit as JSON', seen('Edit as a form'))],
  'fields that are not valid': ['start?workflow=everyField', pressed('Run', seen('fields are not valid'))],
  'a result': ['start?workflow=pair', result],
  'a result that is an error': ['start?workflow=failInChild', result],
  'a workflow that is not published': ['start?workflow=unknown', seen('does not publish unknown')],
  'no such catalog': ['start?catalog=unknown', alert],
  'an empty catalog': [`start?catalog=${EMPTY_CATALOG}`, seen('The catalog is empty')],
  'open questions': ['questions?to=finance', async (page) => page.getByRole('article').nth(1)],
  'no question': ['questions?to=nobody', seen('No open questions')],
  // It takes the engine a minute to mark it.
  'a stuck run': ['runs?problem=true&workflowName=failTask', followed('stuck-', seen('Stuck'))],
}

/** The same for visitors who have signed in. */
const GUARDED: Record<string, [at: string, show: Show]> = {
  'signing in': ['runs', seen('Token or JWT')],
  'a wrong token': ['runs', signedIn('wrong', alert)],
  'no runs yet': ['runs', signedIn(NEWCOMER, seen('No runs yet'))],
  'a run to look at': [runAt('order'), signedIn(VIEWER, seen('token:viewer'))],
}

function runAt(name: string): string {
  return `run?id=${idOf(name)}`
}

function idOf(name: string): string {
  return `${name}-${TAG}`
}

function signedIn(token: string, then: Show): Show {
  return async (page) => {
    await signIn(page, token)
    return then(page)
  }
}

async function askForProgress(page: Page): Promise<Locator> {
  await page.getByText('progress', { exact: true }).click()
  const form = page.getByRole('form', { name: 'Query progress' })
  await form.getByRole('button', { name: 'Send query' }).click()
  return form.getByText('"waiting_for_approval"')
}

/** The request for its trace goes to a run that does not exist. */
async function withoutTrace(page: Page): Promise<Locator> {
  const unknown = (path: string) => path.replace(idOf('canceled'), idOf('unknown'))
  await page.route('**/trace-log', (route) => route.continue({ url: unknown(route.request().url()) }), { times: 1 })
  await page.reload()
  await page.getByText('Canceled after').waitFor()
  return page.getByRole('alert')
}

test(
  'console: each screen can be used by everybody, on a laptop and on a phone, in light and in dark colors',
  PATIENT,
  async ({ browser, client, serviceProcess, guardedService, startWorker }) => {
    await Promise.all([
      startWorker({ taskQueue: EMPTY_CATALOG, catalog: defineCatalog({}) }),
      startRuns(apiOf(serviceProcess)),
      client.workflow.start('order', { workflowId: idOf('unclaimed'), taskQueue: `nobody-${TAG}`, args: [] }),
    ])

    const found = new Map<string, string[]>()
    const problems: string[] = []
    const visit = async (url: string, screens: typeof SCREENS) => {
      const opened = await open(browser, `${url}/console`)
      for (const [name, [at, show]] of Object.entries(screens)) {
        await opened.page.evaluate(() => sessionStorage.clear())
        await opened.page.setViewportSize({ width: 1280, height: 900 })
        await opened.page.goto(`${url}/console/${at}`)
        const shown = await show(opened.page)
        for (const look of LOOKS) {
          await shown.waitFor()
          const wrong = await lookAt(opened.page, look)
          if (wrong.length > 0) found.set(`${name}, ${look.width}, ${look.colorScheme}`, wrong)
        }
      }
      problems.push(...opened.problems)
      await opened.page.close()
    }

    await visit(guardedService.url, GUARDED)
    await visit(serviceProcess.url, SCREENS)

    expect(Object.fromEntries(found)).toEqual({})
    // Requests that the service rejects, as it should.
    expect(problems.filter((problem) => !/status of (?:400|401|404|422|424)/.test(problem))).toEqual([])
  },
)

/** What somebody would find wrong: what axe-core finds, and parts that are wider than the page. */
async function lookAt(page: Page, { width, height, colorScheme }: (typeof LOOKS)[number]): Promise<string[]> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme })
  // The page has drawn what depends on them.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
  const wide = await page.evaluate(() => {
    const main = document.querySelector('main') ?? document.body
    const edge = main.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(main).paddingRight)
    const parts = [...main.querySelectorAll('section, article, nav, form, table')]
    const beyond = parts.filter((part) => part.getBoundingClientRect().right > edge + 1)
    return [
      ...(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : []),
      ...beyond.map((part) => `too wide: ${part.getAttribute('aria-label') ?? part.outerHTML.slice(0, 80)}`),
    ]
  })
  // No other rule is about colors.
  const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined
  return [...wide, ...(await violations(page, rules))]
}

async function startRuns(api: ReturnType<typeof apiOf>): Promise<void> {
  const start = (name: string, workflow: string, input: unknown = null, more: object = {}) =>
    api.start(workflow, input, { workflowId: idOf(name), ...more })
  await Promise.all([
    start('stuck', 'failTask', null, { taskTimeout: '1s' }),
    start('order', 'order', LARGE_ORDER),
    start('trip', 'trip', idOf('ada')),
    start('retrying', 'retriedLater'),
    start('progress', 'reportsProgress', { details: { percent: 40, rows: 1200 } }),
    start('question', 'refund'),
    start('other-question', 'refund'),
    start('stream', 'streamItselfFirst', 3),
    start('failed', 'order', { ...LARGE_ORDER, card: '0000' }),
    start('timed-out', 'neverEnds', null, { executionTimeout: '1s' }),
    start('chain', 'chain', { links: 2 }),
    ...['paused', 'canceled', 'terminated'].map((name) => start(name, 'neverEnds')),
    ...Array.from({ length: 55 }, (_, index) => start(`greet-${index}`, 'greet', { name: 'Ada' })),
  ])
  await api.call('PATCH', `/workflow/${idOf('canceled')}/stop`)
  await api.post(`${idOf('terminated')}/terminate`)
  await api.post(`${idOf('paused')}/pause`)
  await until('it is paused', async () => (await api.get(`${idOf('paused')}/status`)).body.status === 'paused')
}
