/** The commands of docs/first-hour.md, in an empty folder. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../../test/support/fixtures.ts'
import { codeBlocks, namedFiles } from '../../test/support/markdown.ts'
import { ensureTarball, nodeFirst } from '../../test/support/package.ts'
import { WITH_CURL } from '../../test/support/paste.ts'

const NPM = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' }

test('docs/first-hour.md: its commands print what it shows', async ({ folder, cleanup }) => {
  const [port, tarball] = [await freePort(), await ensureTarball()]
  const text = await readFile(new URL('../../docs/first-hour.md', import.meta.url), 'utf8')
  // The engine is shared with other tests.
  const id = crypto.randomUUID().slice(0, 8)
  const replace = (code: string) =>
    code
      .replaceAll('127.0.0.1:3001', `127.0.0.1:${port}`)
      .replaceAll(/\brefund-(1\d)/g, `refund-${id}-$1`)
      .replaceAll("'refunds'", `'refunds-${id}'`)
      .replaceAll('--catalog refunds', `--catalog refunds-${id}`)
      .replaceAll(/\S+\/portico-\S+\.tgz/g, tarball)
  const page = replace(text)
  const [install = '', start = '', ...commands] = codeBlocks(page, 'sh')
  const env = {
    ...nodeFirst,
    ...NPM,
    ENGINE_ADDRESS: inject('engine').address,
    PORTICO_URL: `http://127.0.0.1:${port}`,
  }
  const shell = (script: string) => runCommand({ command: 'sh', args: ['-c', script], cwd: folder, env })

  await shell(install)
  for (const [name, code] of namedFiles(page)) await writeFile(join(folder, name), code)
  const dev = await startProcess({
    command: 'sh',
    args: ['-c', start.replace('npx portico', 'exec npx portico')],
    cwd: folder,
    env: { ...env, SERVICE_PORT: `${port}` },
  })
  cleanup.defer(async () => void (await dev.kill()))
  await until('everything is ready', () => dev.output().includes('The worker serves refund'), {
    signal: exitSignal(dev, 'portico dev'),
  })

  const printed = await shell(`exec 2>&1\n${WITH_CURL}${commands.map((code) => `${code}\necho`).join('\n')}`)

  let rest = printed
  for (const shown of codeBlocks(page, 'text')) {
    const [found = ''] = matching(shown).exec(rest) ?? []
    expect(found, `${shown}\nis not in\n${rest}`).not.toBe('')
    rest = rest.slice(rest.indexOf(found) + found.length)
  }
  expect(commands.length).toBeGreaterThan(8)
})

/** These lines, in which `…` stands for anything. */
function matching(shown: string): RegExp {
  const parts = shown.trim().split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?')}$`, 'ms')
}
