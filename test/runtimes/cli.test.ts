/** The commands that call the service, as the package has them. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { cliActivities } from '../conformance/cli/activities-alone.ts'
import { cliBatches } from '../conformance/cli/batches.ts'
import { cliBulk } from '../conformance/cli/bulk.ts'
import { TOKEN, cliTest as test, untilOpen } from '../conformance/cli/cli-fixture.ts'
import { cliCommands } from '../conformance/cli/commands.ts'
import { cliCompletion } from '../conformance/cli/completion.ts'
import { cliOutages } from '../conformance/cli/outages.ts'
import { cliOutput } from '../conformance/cli/output.ts'
import { cliPolicy } from '../conformance/cli/policy.ts'
import { cliSchedules } from '../conformance/cli/schedules.ts'
import { cliUsage } from '../conformance/cli/usage.ts'
import { cliWaiting } from '../conformance/cli/waiting.ts'
import { cliOnTerminal } from '../support/cli.ts'

test('portico: piped, stdout is the body of the response, and numbers are exact', async ({ portico, env }) => {
  const input = '{"id":9007199254740993,"price":0.12345678901234567890}'

  const run = await portico(['run', 'hugeNumbers', '--id', 'exact', '--input', input])

  const response = await fetch(`${env.PORTICO_URL}/workflow/exact/result`, {
    headers: { Authorization: `Bearer ${TOKEN}` },
  })
  expect(run).toEqual({ code: 0, stdout: `${await response.text()}\n`, stderr: '' })
  expect(run.stdout).toContain(`"input":${input}`)
  expect(run.stdout).toContain('"id":9007199254740993,"price":0.12345678901234567890')
})

test('portico: the exit code says how a run has ended', async ({ portico }) => {
  const failed = await portico(['run', 'failWithCauses'])
  const run = ['run', 'neverEnds', '--id', 'endless', '--key', 'endless', '--timeout', '1s']
  const open = await untilOpen(() => portico(run))
  const ended = await portico(['terminate', 'endless', '--reason', 'enough'])
  const terminated = await portico(['result', 'endless'])

  expect([failed.code, open.code, ended.code, terminated.code]).toEqual([1, 4, 0, 1])
  expect(JSON.parse(failed.stdout)).toMatchObject({ status: 'failed', error: 'the outer failure' })
  expect(JSON.parse(open.stdout)).toMatchObject({ error: 'WorkflowExecutionTimedOutError', workflowId: 'endless' })
  expect(open.stderr).toContain('The workflow keeps running. Wait for it: portico result endless')
  expect(JSON.parse(terminated.stdout)).toMatchObject({ status: 'terminated' })
})

test('portico: start, status, signal, query, update, stop, explain, history, trace, list, catalog', async ({
  portico,
  catalog,
}) => {
  const json = async (...args: string[]) => JSON.parse((await portico(args)).stdout)

  const started = await json('start', 'messages', '--id', 'talk', '--options', '{"memo":{"a":1}}')
  expect(started).toMatchObject({ workflowId: 'talk', status: 'running' })
  expect(await json('signal', 'talk', 'add', '--arg', '1', '--arg', '"two"')).toMatchObject({
    signal: 'add',
    accepted: true,
  })
  expect(await json('query', 'talk', 'state')).toEqual({ gathered: [1, 'two'], value: null })
  expect(await json('update', 'talk', 'set', '--input', '{"n":1}')).toEqual({ before: null, after: { n: 1 } })
  const { since } = await json('explain', 'talk')
  const headline = `waiting_handler since ${since.slice(0, 19).replace('T', ' ')} UTC`
  expect((await portico(['explain', 'talk', '--text'])).stdout).toContain(`${headline}\n- ${headline}: send `)
  expect(await json('status', 'talk', '--run', started.runId)).toMatchObject({
    runId: started.runId,
    status: 'running',
  })
  expect(await json('stop', 'talk')).toMatchObject({ cancelRequested: true })
  expect(await json('result', 'talk')).toMatchObject({ status: 'canceled' })
  expect((await json('history', 'talk', '--page-size', '2')).events).toHaveLength(2)
  expect((await json('trace', 'talk')).data).toMatchObject({ name: 'messages' })
  expect((await json('catalog', catalog)).workflows).toContainEqual(expect.objectContaining({ name: 'messages' }))
  const listed = ['list', '--catalog', catalog, '--workflow', 'messages', '--status', 'canceled'] as const
  await until('the run is listed', async () => (await json(...listed)).runs.length === 1)
  expect((await json(...listed, '--problem')).runs).toEqual([])
})

test('portico: arguments come from stdin and from files', async ({ portico, folder }) => {
  await writeFile(join(folder, 'input.json'), '{"from":"a file"}')

  const [piped, read, several] = await Promise.all([
    portico(['run', 'echo', '--input', '-'], { stdin: '{"from":"stdin"}' }),
    portico(['run', 'echo', '--input', '@input.json'], { cwd: folder }),
    portico(['run', 'several', '--arg', '@input.json', '--arg', '-'], { stdin: '[2]', cwd: folder }),
  ])

  const outputs = [piped, read, several].map(({ stdout }) => JSON.parse(stdout).output)
  expect(outputs).toEqual([{ from: 'stdin' }, { from: 'a file' }, [{ from: 'a file' }, [2]]])
})

test('portico: encoded arguments come from a file', async ({ portico, folder }) => {
  const metadata = { encoding: 'json/plain' }
  await writeFile(
    join(folder, 'payloads.json'),
    JSON.stringify([
      { metadata, value: 7 },
      { metadata, data: 'IjgiCg==' },
    ]),
  )
  await writeFile(join(folder, 'one.json'), JSON.stringify({ metadata, value: 7 }))
  const payloads = ['--payloads', 'payloads.json'] as const

  const run = await portico(['run', 'several', ...payloads], { cwd: folder })
  await portico(['start', 'messages', '--id', 'encoded'])
  const query = await portico(['signal', 'encoded', 'add', ...payloads], { cwd: folder })
  const validated = await portico(['validate', 'several', ...payloads], { cwd: folder })
  const both = await portico(['run', 'several', ...payloads, '--input', '1'], { cwd: folder })
  const notList = await portico(['run', 'several', '--payloads', 'one.json'], { cwd: folder })
  await portico(['terminate', 'encoded'])

  expect(JSON.parse(run.stdout).output).toEqual([7, '8'])
  expect([query, validated, both, notList].map(({ code }) => code)).toEqual([0, 0, 2, 2])
})

test('portico openapi, types: they describe the workflows of the catalog', async ({ portico, catalog, folder }) => {
  const document = await portico(['openapi', '--catalog', catalog])
  const printed = await portico(['types', '--catalog', catalog])
  const written = await portico(['types', '--out', 'workflows.ts'], { cwd: folder })

  expect([document.code, printed.code, written.code]).toEqual([0, 0, 0])
  expect(JSON.parse(document.stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) })
  expect(Object.keys(JSON.parse(document.stdout).paths)).toContain('/workflow/run#sleepFor')
  expect(printed.stdout).toContain('"sleepFor": {\n    args: [input: {\n      "ms": number\n    }, ...more: unknown[]]')
  expect([written.stdout, await readFile(join(folder, 'workflows.ts'), 'utf8')]).toEqual(['', printed.stdout])
})

test('portico: commands in advice have the --url of the command, and never its token (threat 100)', async ({
  portico,
  env,
}) => {
  const flags = ['--url', env.PORTICO_URL, '--token', TOKEN] as const

  await portico(['start', 'neverEnds', '--id', 'far', ...flags])
  const open = await portico(['result', 'far', '--timeout', '300ms', ...flags])
  const missing = await portico(['status', 'nowhere', ...flags])
  const { stderr } = await portico(['terminate', 'far', '--url', env.PORTICO_URL])

  expect(open.stderr).toContain(`Wait for it: portico result far --url ${env.PORTICO_URL}\n`)
  expect(missing.stderr).toContain(`"portico list --url ${env.PORTICO_URL}" shows the runs.`)
  expect([open.stderr, missing.stderr, stderr].join()).not.toContain(TOKEN)
})

test('portico start: starts one run, also if the connection of the first request is cut', async ({
  portico,
  env,
  catalog,
  cleanup,
}) => {
  const proxy = await startTcpProxy(new URL(env.PORTICO_URL).host)
  cleanup.defer(() => proxy.close())
  proxy.loseNextResponse()

  const { code, stdout } = await portico(['start', 'nothing', '--url', `http://${proxy.address}`])

  expect([code, proxy.accepted()]).toEqual([0, 2])
  const { runId } = JSON.parse(stdout)
  const list = async () => JSON.parse((await portico(['list', '--workflow', 'nothing', '--catalog', catalog])).stdout)
  await until('a run is listed', async () => (await list()).runs.length > 0)
  expect((await list()).runs).toEqual([expect.objectContaining({ runId })])
})

test('portico: a terminal shows tables and colors, and no value of a workflow controls it (threat 83)', async ({
  env,
}) => {
  const input = JSON.stringify({ title: '\u001b]0;owned\u0007', text: '\u202e\u009b\u007f' })

  const { code, output } = await cliOnTerminal(['run', 'echo', '--id', 'seen', '--input', input], { env })
  const json = await cliOnTerminal(['result', 'seen', '--no-wait', '--json'], { env })
  const plain = await cliOnTerminal(['list', '--query', "WorkflowId = 'seen'"], { env: { ...env, NO_COLOR: '1' } })
  const [drawn, tree] = await Promise.all(
    [80, 79].map((columns) => cliOnTerminal(['trace', 'seen'], { env: { ...env, NO_COLOR: '1' }, columns })),
  )

  expect(code).toBe(0)
  expect(output).toMatch(/Status\u001b\[22m +\u001b\[32mcompleted\u001b\[39m/)
  expect(output).toContain('\\u001b]0;owned\\u0007')
  expect(output).toContain('\\u202e')
  expect(output).not.toContain('\u001b]0;')
  expect(json.output).toMatch(/^[ -~]+\n$/)
  expect(JSON.parse(json.output).output).toEqual(JSON.parse(input))
  expect(plain.output).toMatch(/^Status +Workflow +Id +Run +Started \(UTC\) +Took$/m)
  expect(plain.output).not.toContain('\u001b')
  expect(drawn?.output).toMatch(/^[\d-]{10} [\d:]{8} UTC +0 .*\necho +━+ +\d+ ms\n\nsource: history\n$/)
  expect(tree?.output).toMatch(/^echo {2}\d+ ms\n\nsource: history\n$/)
})

cliCommands()
cliCompletion()
cliOutages()
cliOutput()
cliPolicy()
cliBulk()
cliActivities()
cliSchedules()
cliBatches()
cliUsage()
cliWaiting()
