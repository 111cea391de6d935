/** `portico hooks test`, as the package has it, against a service with hooks. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cliTest, TOKEN } from '../conformance/cli/cli-fixture.ts'

const SECRETS = { SERVICE_HOOK_STRIPE: 'whsec_s3cret-of-stripe', SERVICE_HOOK_SLACK: 's3cret-of-slack' }

const POLICY = JSON.stringify({
  version: 1,
  hooks: {
    stripe: {
      scheme: 'stripe',
      secretEnv: 'SERVICE_HOOK_STRIPE',
      start: { workflowName: 'echo', workflowId: 'cli-hook:{/id}' },
    },
    gh: { scheme: 'github', secretEnv: ['SERVICE_HOOK_STRIPE'], start: { workflowName: 'echo' } },
    slack: { scheme: 'slack', secretEnv: 'SERVICE_HOOK_SLACK', start: { workflowName: 'echo' } },
  },
})

const test = cliTest
  .extend('serviceEnv', { scope: 'file' }, () => ({
    SERVICE_API_AUTH_TOKEN: TOKEN,
    SERVICE_POLICY: POLICY,
    ...SECRETS,
  }))
  .extend('hooksTest', { scope: 'file' }, ({ portico, folder }) => {
    return async (hook: string, body: string, flags: string[] = [], env: Record<string, string> = {}) => {
      await writeFile(join(folder, 'sample'), body)
      return portico(['hooks', 'test', hook, 'sample', ...flags], {
        cwd: folder,
        env: { SERVICE_POLICY: POLICY, ...SECRETS, ...env },
      })
    }
  })

test('portico hooks test: sends a sample that the service accepts, byte by byte', async ({ hooksTest, portico }) => {
  const sample = '{ "id": 12345678901234567890 }\n'

  const first = await hooksTest('stripe', sample)
  const again = await hooksTest('stripe', sample, ['--text'])

  expect([first.code, JSON.parse(first.stdout)]).toEqual([
    0,
    { workflowId: 'cli-hook:12345678901234567890', runId: expect.any(String) },
  ])
  expect([again.code, again.stdout]).toEqual([0, 'duplicate  true\n'])
  const result = await portico(['result', 'cli-hook:12345678901234567890'])
  expect(result.stdout).toContain('"id":12345678901234567890')
})

test('portico hooks test: sends the id and further headers of an event', async ({ hooksTest, portico }) => {
  const flags = ['--id', 'd-1', '--header', 'X-GitHub-Event: push']

  const { stdout } = await hooksTest('gh', '{}', flags)

  const { workflowId } = JSON.parse(stdout)
  const { output } = JSON.parse((await portico(['result', workflowId])).stdout)
  expect(workflowId).toBe('hook:gh:d-1')
  expect(output).toEqual({ headers: { 'x-github-delivery': 'd-1', 'x-github-event': 'push' }, body: {} })
})

test('portico hooks test: sends a file that is not JSON as a form', async ({ hooksTest }) => {
  expect(await hooksTest('slack', 'command=%2Fdeploy&text=x')).toEqual({
    code: 0,
    stdout: '{"accepted":true}\n',
    stderr: '',
  })
})

test('portico hooks test: exits with 2 if the service rejects the proof of the sample', async ({ hooksTest }) => {
  const { code, stdout, stderr } = await hooksTest('stripe', '{"id":1}', [], { SERVICE_HOOK_STRIPE: 'another' })

  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^error: the service rejects the proof: its SERVICE_HOOK_STRIPE differs/)
  expect(stdout + stderr).not.toMatch(/s3cret|another/)
})

test('portico hooks test: exits with 2 for what it cannot send, and with 3 without a service', async ({
  hooksTest,
  portico,
  folder,
}) => {
  const unset = { SERVICE_HOOK_STRIPE: '' }
  const ends = [
    await hooksTest('none', '{}'),
    await hooksTest('stripe', '{}', [], unset),
    await hooksTest('stripe', '{}', [], { SERVICE_POLICY: '' }),
    await hooksTest('stripe', '{}', [], { SERVICE_POLICY: '{"version":2}' }),
    await hooksTest('stripe', '{}', ['--header', 'x']),
    await portico(['hooks', 'test', 'stripe', 'missing'], { cwd: folder, env: { SERVICE_POLICY: POLICY, ...SECRETS } }),
    await hooksTest('stripe', '{}', ['--url', 'http://127.0.0.1:1']),
  ]

  expect(ends.map(({ code, stderr }) => [code, stderr.split('\n')[0]])).toEqual([
    [2, 'error: the policy has no hook none; its hooks: stripe, gh, slack'],
    [2, 'error: SERVICE_HOOK_STRIPE must be set: the secret of the hook stripe'],
    [2, 'error: SERVICE_POLICY or SERVICE_POLICY_FILE must be set: it defines the hooks'],
    [2, 'error: the policy has mistakes:'],
    [2, 'error: --header must be a name, a colon and a value'],
    [2, 'error: the file missing cannot be read (ENOENT)'],
    [3, expect.stringMatching(/^error: The service cannot be reached: /)],
  ])
})

test('portico hooks test: sends nothing to the URL of a settings file (threat 98)', async ({ hooksTest, folder }) => {
  const settings = join(folder, '.portico.json')
  await writeFile(settings, JSON.stringify({ url: 'http://127.0.0.1:1' }))
  const withheld = await hooksTest('stripe', '{}', [], { PORTICO_URL: '' })
  await rm(settings)

  expect([withheld.code, withheld.stderr]).toEqual([2, expect.stringContaining('set PORTICO_URL or --url')])
})

test('portico hooks test: reads the policy from the file of SERVICE_POLICY_FILE', async ({ hooksTest, folder }) => {
  const path = join(folder, 'policy.json')
  await writeFile(path, POLICY)

  const end = await hooksTest('gh', '{}', [], { SERVICE_POLICY: '', SERVICE_POLICY_FILE: path })

  expect([end.code, end.stderr]).toEqual([0, ''])
})
