import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../src/cli/settings.ts'

async function folderWith(settings: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, '.portico.json'), JSON.stringify(settings))
  return folder
}

test('readSettings: the token of a file is not sent to the service of a flag or a variable (threat 98)', async () => {
  const folder = await folderWith({ url: 'https://portico.test/', token: 'secret' })
  const other = 'https://other.test'

  const tokens = await Promise.all([
    readSettings({}, {}, folder),
    readSettings({ url: 'https://portico.test' }, {}, folder),
    readSettings({ url: other }, {}, folder),
    readSettings({}, { PORTICO_URL: other }, folder),
    readSettings({ url: other, token: 'own' }, {}, folder),
  ])

  expect(tokens.map(({ token }) => token)).toEqual(['secret', 'secret', null, null, 'own'])
})

test('readSettings: the URL of a file gets the token of that file or none, on loopback too (threat 98)', async () => {
  const [withToken, without, loopback] = await Promise.all([
    folderWith({ url: 'https://portico.test', token: 'of the file' }),
    folderWith({ url: 'https://portico.test' }),
    folderWith({ url: 'http://127.0.0.1:3001' }),
  ])
  const env = { PORTICO_TOKEN: 'secret' }

  const settings = await Promise.all([
    readSettings({}, env, withToken),
    readSettings({}, env, without),
    readSettings({}, env, loopback),
    readSettings({ token: 'secret' }, {}, without),
    readSettings({ token: 'secret' }, {}, withToken),
  ])

  expect(settings.map(({ token }) => token)).toEqual(['of the file', null, null, null, 'of the file'])
  expect(settings.map(({ withheldToken }) => withheldToken)).toEqual([
    null,
    `PORTICO_TOKEN is not sent to https://portico.test, which ${join(without, '.portico.json')} names. To send it, set PORTICO_URL or --url to that URL.`,
    expect.stringContaining('PORTICO_TOKEN is not sent to http://127.0.0.1:3001'),
    expect.stringContaining('--token is not sent to https://portico.test'),
    expect.stringContaining('--token is not sent to https://portico.test'),
  ])
})

test('readSettings: a token is sent to a URL of the same source, of a stronger one, and to the default', async () => {
  const folder = await folderWith({ url: 'https://portico.test' })
  const empty = await folderWith({ catalog: 'orders' })
  const env = { PORTICO_TOKEN: 'secret' }

  const settings = await Promise.all([
    readSettings({}, { ...env, PORTICO_URL: 'https://portico.test' }, folder),
    readSettings({ url: 'https://portico.test' }, env, folder),
    readSettings({ token: 'secret' }, { PORTICO_URL: 'https://portico.test' }, folder),
    readSettings({}, env, empty),
  ])

  expect(settings.map(({ token, withheldToken }) => [token, withheldToken])).toEqual(
    settings.map(() => ['secret', null]),
  )
})

test('readSettings: the namespace is that of the flag, the variable or the file, in this order', async () => {
  const folder = await folderWith({ namespace: 'of-file' })
  const env = { PORTICO_NAMESPACE: 'of-variable' }

  const settings = await Promise.all([
    readSettings({ namespace: 'of-flag' }, env, folder),
    readSettings({}, env, folder),
    readSettings({}, {}, folder),
    readSettings({}, {}, await folderWith({})),
  ])

  expect(settings.map(({ namespace }) => namespace)).toEqual(['of-flag', 'of-variable', 'of-file', null])
  for (const namespace of ['', '.', '..'])
    await expect(readSettings({ namespace }, {}, folder)).rejects.toThrow('--namespace must be the name of a namespace')
})

test('readSettings: a pipe of that name does not block the command (threat 98)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await promisify(execFile)('mkfifo', [join(folder, '.portico.json')])

  await expect(readSettings({}, {}, folder)).rejects.toThrow('.portico.json is not valid JSON')
})
