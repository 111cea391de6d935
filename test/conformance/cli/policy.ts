/** Tokens and policies, without a service. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cli } from '../../support/cli.ts'
import { test } from '../../support/fixtures.ts'
import { unsigned } from '../../support/jwt-signer.ts'

const RULE = { name: 'ci', who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['start'], ids: ['CI:*'] }

export function cliPolicy(): void {
  test('portico token new: prints a new token with its hash, which is that of a rule', async () => {
    const [first, second, text] = await Promise.all([
      cli(['token', 'new']),
      cli(['token', 'new', '--json']),
      cli(['token', 'new', '--text']),
    ])

    const { token, hash } = JSON.parse(first.stdout)
    expect(token).toMatch(/^ptc_[\w-]{43}$/)
    expect(hash).toBe(`sha256:${createHash('sha256').update(token).digest('hex')}`)
    expect(JSON.parse(second.stdout).token).not.toBe(token)
    expect(text.stdout).toMatch(
      /^Token +ptc_\S+\nHash +sha256:\S+\nFor the policy +"who": \{ "token": "sha256:\S+" \}\n$/,
    )
    for (const { code, stderr } of [first, second, text])
      expect([code, stderr]).toEqual([0, expect.stringContaining('The token is shown only once.')])
  })

  test('portico policy check: exits with 2 and lists all mistakes, or with 0 and lists warnings', async ({
    folder,
  }) => {
    const write = (name: string, content: unknown) => writeFile(join(folder, name), JSON.stringify(content))
    await write('valid.json', { version: 1, rules: [RULE] })
    await write('wrong.json', { version: 1, rules: [{ ...RULE, who: { token: 'ptc_s3cret' } }, RULE] })
    const check = (file: string) => cli(['policy', 'check', file], { cwd: folder })

    const [valid, wrong, missing] = await Promise.all([check('valid.json'), check('wrong.json'), check('missing.json')])

    expect(valid.code).toBe(0)
    expect(JSON.parse(valid.stdout)).toMatchObject({ valid: true, rules: 1, warnings: [expect.any(String)] })
    expect(valid.stderr).toMatch(/^warning: \/rules\/0\/ids\/0 has upper-case/)
    expect(wrong.code).toBe(2)
    expect(JSON.parse(wrong.stdout)).toMatchObject({ valid: false, issues: [expect.any(String), expect.any(String)] })
    expect(wrong.stderr.split('\n')).toEqual([
      'error: wrong.json has 2 mistakes:',
      expect.stringMatching(/^ {2}\/rules\/0\/who\/token must be "sha256:"/),
      '  /rules/1/name must differ from /rules/0/name',
      '',
    ])
    expect(wrong.stdout + wrong.stderr).not.toContain('s3cret')
    expect([missing.code, missing.stderr]).toEqual([2, 'error: the file missing.json cannot be read (ENOENT)\n'])
  })

  test('portico policy explain: the exit code is the verdict, and the rules say why', async ({ folder }) => {
    await writeFile(join(folder, 'policy.json'), JSON.stringify({ version: 1, rules: [RULE] }))
    const explain = (...args: string[]) =>
      cli(['policy', 'explain', 'policy.json', '--as', 'token:ci', ...args], { cwd: folder })

    const [allowed, denied, wrong] = await Promise.all([
      explain('start', '--id', 'CI:1'),
      explain('read', '--text'),
      explain('run'),
    ])

    expect([allowed.code, denied.code, wrong.code]).toEqual([0, 1, 2])
    expect(JSON.parse(allowed.stdout)).toMatchObject({ caller: 'token:ci', verdict: 'allowed', rule: 'ci' })
    expect(denied.stdout).toBe(
      'Caller   token:ci\nAction   read\nVerdict  denied\n\nRule  Result   Why\nci    rejects  it can only start\n',
    )
    expect(wrong.stderr).toContain('the action must be one of start, read')
  })

  test('portico policy explain --jwt: says why the service would reject it, without showing it', async ({ folder }) => {
    await writeFile(join(folder, 'policy.json'), JSON.stringify({ version: 1, rules: [RULE] }))
    const jwt = unsigned({ alg: 'ES256' }, { iss: 'https://login.example.com/', aud: 'a', sub: 'ada' }, 's3cret')
    await writeFile(join(folder, 'token.jwt'), `${jwt}\n`)
    const explain = (...args: string[]) => cli(['policy', 'explain', 'policy.json', 'start', ...args], { cwd: folder })

    const [rejected, text, neither] = await Promise.all([
      explain('--jwt', '@token.jwt'),
      explain('--jwt', jwt, '--text'),
      explain(),
    ])

    expect([rejected.code, text.code, neither.code]).toEqual([1, 1, 2])
    expect(JSON.parse(rejected.stdout)).toMatchObject({ verdict: 'denied', jwt: { rejected: 'unknown issuer' } })
    expect(text.stdout).toMatch(/^JWT +rejected: unknown issuer\nIssuer +unknown\nAudience +a\n/)
    expect(rejected.stdout + text.stdout).not.toContain('s3cret')
    expect(neither.stderr).toBe('error: use either --as or --jwt\n')
  })

  test('portico completion: Tab completes the commands of policies', async () => {
    const offered = await cli(['complete', '--', 'policy', 'ex'])

    expect(offered.stdout.split('\t')[0]).toBe('explain')
  })
}
