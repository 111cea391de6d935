/**
 * Does what `SKILL.md`, `README.md`, `docs/client.md`, `docs/how-do-i.md` and `examples/client.ts` show: requests in
 * order, and clients.
 */
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { readExamples } from '../support/api-docs.ts'
import { FROM_SOURCE } from '../support/entries.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'
import { tryOutAll } from '../support/shown-examples.ts'

const TOKEN = 's3cret'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => EXAMPLE_WORKER)

const page = await readFile(new URL('../../SKILL.md', import.meta.url), 'utf8')
let url: string
let programs: string

test.beforeAll(async ({ worker, folder, cleanup }) => {
  const server = await FROM_SOURCE.Node({
    ENGINE_ADDRESS: inject('engine').address,
    SERVICE_CATALOG_ID: worker.taskQueue,
    SERVICE_API_AUTH_TOKEN: TOKEN,
  })
  cleanup.defer(() => server.stop())
  url = server.url
  programs = folder
  const { call } = makeApi({ url, token: TOKEN })
  await until('the catalog is published', async () => (await call('GET', '/workflow/catalog')).status === 200)
})

test('SKILL.md: each request gets the documented response', async ({ worker }) => {
  const examples = readExamples('SKILL.md')

  await tryOutAll(makeApi({ url, token: TOKEN }), worker.taskQueue, examples)

  expect(examples.length).toBeGreaterThan(10)
})

test('SKILL.md: portico/client prints what the page says', async () => {
  await installClient()

  const { printed, shown } = await printedBy('With JavaScript or TypeScript: `portico/client`')

  expect(printed).toBe(shown)
})

test('SKILL.md: the client without dependencies prints what the page says', async () => {
  await copyFile(new URL('../../examples/portico.mjs', import.meta.url), join(programs, 'portico.mjs'))
  const { printed, shown } = await printedBy('With any other language')

  expect(printed).toBe(shown)
})

test('README.md: portico/client prints what the page says', async () => {
  await installClient()
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const [code = ''] = codeBlocks(chapterOf(readme, 'Quick start'), 'ts')

  await writeFile(join(programs, 'readme.mjs'), code.replace(/url: '[^']+'/, `url: '${url}', token: '${TOKEN}'`))
  const printed = await runCommand({ command: process.execPath, args: ['readme.mjs'], cwd: programs, env: process.env })

  expect(`// ${printed.trim()}`).toBe(
    code
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^.*(?=\/\/)/, ''),
  )
})

test('docs/client.md: its example, which the compiler has checked, runs', async () => {
  const example = fileURLToPath(new URL('../../examples/typed-client.ts', import.meta.url))
  const env = { ...process.env, PORTICO_URL: url, PORTICO_TOKEN: TOKEN }

  const printed = await runCommand({ command: process.execPath, args: [example], env })

  expect(printed.trim().split('\n')).toEqual([
    'Hello, Ada!',
    'Good morning, Ada!',
    'Hello, Grace!',
    'normal to high string',
    'true',
    'WorkflowFailedError CardDeclined',
    '100',
    'failed Card 0000 was declined',
    'WorkflowExecutionTimedOutError string true',
    'WorkflowExecutionCanceled true',
    'true false',
  ])
})

test('docs/how-do-i.md: its program runs each failed order once more, also if it is started twice', async ({
  worker,
}) => {
  const example = fileURLToPath(new URL('../../examples/rerun-failed.ts', import.meta.url))
  const env = { ...process.env, PORTICO_URL: url, PORTICO_TOKEN: TOKEN }
  const { run, get } = makeApi({ url, token: TOKEN })
  const orderId = `declined-${crypto.randomUUID()}`
  const { body: failed } = await run('order', { orderId, amount: 20, card: '0000' }, { workflowId: orderId })
  await until('the run is listed', async () => {
    const { body } = await get(`runs?status=failed&catalog=${worker.taskQueue}`)
    return body.runs.some(({ runId }: { runId: string }) => runId === failed.runId)
  })

  const again = async () => {
    const printed = await runCommand({ command: process.execPath, args: [example], env })
    return printed.split('\n').find((line) => line.startsWith(`${orderId} `))
  }
  const line = await again()

  expect(line).toMatch(/^declined-\S+ runs again as key-[\da-f]{32}$/)
  expect(await again()).toBe(line)
  const { body: input } = await get(`${line?.split(' ').at(-1)}/input`)
  expect(input.input).toEqual({ orderId, amount: 20, card: '0000' })
})

test('docs/how-do-i.md: of twenty callers at once, three start a run', async () => {
  const howDoI = await readFile(new URL('../../docs/how-do-i.md', import.meta.url), 'utf8')
  const [code = ''] = codeBlocks(chapterOf(howDoI, 'Run at most three at once for each customer'), 'js')
  const here = code
    .replace('http://127.0.0.1:3001', url)
    .replace("'Content-Type'", `Authorization: 'Bearer ${TOKEN}', 'Content-Type'`)
  await writeFile(join(programs, fileNameOf(code)), here)
  const driver = `
    import { startAtMost } from './${fileNameOf(code)}'
    const body = { workflowName: 'order', input: { orderId: 'many', amount: 500, card: '4242' } }
    const key = '${crypto.randomUUID()}'
    const started = await Promise.all(Array.from({ length: 20 }, () => startAtMost(3, key, body)))
    console.log(JSON.stringify(started.map((run) => run && typeof run.runId)))`

  const printed = await runCommand({
    command: process.execPath,
    args: ['--input-type=module', '--eval', driver],
    cwd: programs,
  })

  const counts = Object.groupBy(JSON.parse(printed), String)
  expect([counts.string?.length, counts.null?.length]).toEqual([3, 17])
})

test('examples/client.ts: every endpoint responds as it expects', async () => {
  const example = fileURLToPath(new URL('../../examples/client.ts', import.meta.url))
  const env = { ...process.env, PORTICO_URL: url, PORTICO_TOKEN: TOKEN }

  const printed = await runCommand({ command: process.execPath, args: [example], env })

  const titles = printed.trim().split('\n')
  expect(titles.length).toBeGreaterThan(20)
  expect(titles.filter((line) => !line.startsWith('ok '))).toEqual([])
})

/** What the last program of the chapter prints, and what the page says that it prints. */
async function printedBy(heading: string): Promise<{ printed: string; shown: string }> {
  const chapter = chapterOf(page, heading)
  const files = codeBlocks(chapter, 'js').map((code) => ({ name: fileNameOf(code), code }))
  for (const { name, code } of files) await writeFile(join(programs, name), code)
  const env = { ...process.env, PORTICO_URL: url, PORTICO_TOKEN: TOKEN }
  const printed = await runCommand({ command: process.execPath, args: [files.at(-1)?.name ?? ''], cwd: programs, env })
  return { printed: `${printed}\n`, shown: codeBlocks(chapter, 'text').join('') }
}

/** The package as far as the page uses it, without its dependencies. */
async function installClient(): Promise<void> {
  const installed = join(programs, 'node_modules/portico')
  await mkdir(installed, { recursive: true })
  await copyFile(fileURLToPath(new URL('../../package.json', import.meta.url)), join(installed, 'package.json'))
  await symlink(await ensureBundles(), join(installed, 'dist')).catch(isThere)
}

/** Two tests use the package. */
function isThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

function fileNameOf(code: string): string {
  const name = /^\/\/ (\S+\.mjs)\n/.exec(code)?.[1]
  if (name === undefined) throw new Error(`The code does not begin with the name of its file: ${code.slice(0, 40)}`)
  return name
}
