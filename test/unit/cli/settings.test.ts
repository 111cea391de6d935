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

test('readSettings: the token of a file is not sent to the service of a flag or a variable', async () => {
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

test('readSettings: a pipe of that name does not block the command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await promisify(execFile)('mkfifo', [join(folder, '.portico.json')])

  await expect(readSettings({}, {}, folder)).rejects.toThrow('.portico.json is not valid JSON')
})
