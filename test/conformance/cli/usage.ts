/** Wrong commands, and settings. */
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { TOKEN, cliTest as test } from './cli-fixture.ts'

export function cliUsage(): void {
  test('portico: a wrong command exits with 2 and says what is wrong', async ({ portico, env }) => {
    const wrong = await Promise.all([
      portico(['run', 'echo', '--imput', '1']),
      portico(['run', 'echo', '--input', 'Ada']),
      portico(['run', 'echo', '--input', '@missing.json']),
      portico(['run', 'sleepFor', '--input', '{"ms":"1"}']),
      portico(['run', 'sleepFor']),
      portico(['status']),
      portico(['result', 'x', '--timeout', 'soon']),
      portico(['list', '--page-size', '5000']),
      portico(['status', 'x'], { env: { PORTICO_TOKEN: 'wrong' } }),
      portico(['status', 'x', '--run', 'y']),
      portico(['start', 'echo', '--options', '-', '--input', '-'], { stdin: '{}' }),
      portico(['start', 'echo', '--input', '1', '--input', '2']),
      portico(['status', 'x', '--url', `${env.PORTICO_URL}/base`]),
    ])

    expect(wrong.map(({ code }) => code)).toEqual(wrong.map(() => 2))
    expect(wrong.map(({ stderr }) => stderr.split('\n').slice(0, 2).join('\n'))).toEqual([
      "error: unknown option '--imput'\n(Did you mean --input?)",
      expect.stringContaining(`a string needs quotes: --input '"Ada"'`),
      expect.stringContaining('the file missing.json cannot be read (ENOENT)'),
      expect.stringContaining('/input/ms must be of type integer, not string'),
      expect.stringContaining('Invalid input for workflow "sleepFor": /input is required'),
      expect.stringContaining("missing required argument 'id'"),
      expect.stringContaining('--timeout must be a number of milliseconds above 0, or a duration'),
      expect.stringContaining('pageSize'),
      expect.stringContaining('Set PORTICO_TOKEN'),
      'error: Run id: must be a UUID (ValidationError)\n',
      'error: Only one value can be read from stdin; use @file for the others\n',
      expect.stringContaining('Use --arg for each of several arguments.'),
      expect.stringContaining('\nCheck --url, PORTICO_URL or .portico.json'),
    ])
  })

  test('portico: settings come from flags, then from variables, then from the nearest .portico.json', async ({
    portico,
    env,
    folder,
  }) => {
    const nested = join(folder, 'a', 'b')
    await mkdir(nested, { recursive: true })
    await writeFile(join(folder, '.portico.json'), JSON.stringify({ url: 'http://127.0.0.1:1', token: 'of the file' }))
    await writeFile(
      join(folder, 'a', '.portico.json'),
      JSON.stringify({ url: env.PORTICO_URL, token: TOKEN, catalog: 'none' }),
    )
    const unset = { PORTICO_URL: '', PORTICO_TOKEN: '' }

    const fromFile = await portico(['catalog'], { cwd: nested, env: unset })
    const fromVariable = await portico(['catalog'], { cwd: nested, env: { ...unset, PORTICO_CATALOG: 'variable' } })
    const fromFlag = await portico(['catalog', 'flag', '--url', env.PORTICO_URL], {
      cwd: nested,
      env: { ...unset, PORTICO_URL: 'http://127.0.0.1:1', PORTICO_CATALOG: 'variable' },
    })

    expect([fromFile, fromVariable, fromFlag].map(({ stdout }) => JSON.parse(stdout).message)).toEqual([
      'Catalog "none" is not published',
      'Catalog "variable" is not published',
      'Catalog "flag" is not published',
    ])
  })

  test('portico: PORTICO_TOKEN is not sent to the URL of a .portico.json, and Tab sends nothing there (threat 98)', async ({
    portico,
    folder,
    cleanup,
  }) => {
    const requests: string[] = []
    const server = createServer(({ method, url, headers: { authorization = 'no token' } }, response) => {
      requests.push(`${method} ${url} ${authorization}`)
      const body = { error: 'UnauthorizedError', message: 'The credential in the Authorization header is not valid' }
      response.writeHead(401, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(body))
    })
    cleanup.defer(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await writeFile(join(folder, '.portico.json'), JSON.stringify({ url }))
    const inFolder = { cwd: folder, env: { PORTICO_URL: '', PORTICO_TOKEN: 'secret' } }

    const completed = await portico(['complete', '--', 'run', ''], inFolder)
    const listed = await portico(['list'], inFolder)
    const named = await portico(['list', '--url', url], inFolder)

    expect([completed.code, listed.code, named.code]).toEqual([0, 2, 2])
    expect(requests).toEqual(['GET /workflow/runs no token', 'GET /workflow/runs Bearer secret'])
    const [note = ''] = listed.stderr.split('\n')
    expect(note).toBe(
      `PORTICO_TOKEN is not sent to ${url}, which ${join(folder, '.portico.json')} names. To send it, set PORTICO_URL or --url to that URL.`,
    )
    expect(listed.stderr.split(note)).toHaveLength(2)
    expect(named.stderr).not.toContain('is not sent')
  })

  test('portico: a wrong .portico.json is reported with all its mistakes, without their values', async ({
    portico,
    folder,
  }) => {
    const mistakes = { url: 'ftp://secret-host', token: 7, tokn: 'secret-token', catalog: '' }
    await writeFile(join(folder, '.portico.json'), JSON.stringify(mistakes))

    const { code, stderr } = await portico(['status', 'x'], { cwd: folder, env: { PORTICO_TOKEN: 'secret\n' } })

    const file = join(folder, '.portico.json')
    expect(code).toBe(2)
    expect(stderr.replace('error: ', '').trim().split(/\n */)).toEqual([
      'PORTICO_TOKEN must be printable ASCII',
      `${file}: url must be a URL that begins with http:// or https://`,
      `${file}: token must be a string`,
      `${file}: catalog must not be empty`,
      `${file}: "tokn" is not a setting; there are url, token, namespace, catalog`,
    ])
    expect(stderr).not.toContain('secret')
  })

  test('portico: --options with a field that has a flag of its own is rejected, and the flag is named', async ({
    portico,
  }) => {
    const options = JSON.stringify({
      memo: {},
      workflowId: 'x',
      args: [],
      timeoutMs: 1,
      signal: null,
      workflowName: 'y',
    })

    const { code, stdout, stderr } = await portico(['start', 'echo', '--options', options])

    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.replace('error: ', '').trim().split(/\n */)).toEqual([
      '--options must not contain workflowName: it is the first argument of the command',
      '--options must not contain args: use --arg',
      '--options must not contain workflowId: use --id',
      '--options must not contain timeoutMs: use --timeout of portico run',
      '--options must not contain signal: it is not a start option',
    ])
  })
}
