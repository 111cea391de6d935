/** docs/stability.md: the versions it calls tested are those that the tests use. */
import { expect, test } from 'vitest'
import { serverIssue, temporal } from '../../src/cli/dev/servers/temporal.ts'
import { textOf } from '../support/repository.ts'

const page = textOf('docs/stability.md')
const { engines, devDependencies, peerDependencies } = JSON.parse(textOf('package.json'))

/** The columns of the row of this software. */
function rowOf(software: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| ${software} |`)) ?? ''
  return row
    .split(' | ')
    .slice(1)
    .map((cell) => cell.replace(/ \|$/, ''))
}

test('docs/stability.md: the supported versions are those of the package and of npx portico dev', () => {
  const [server = ''] = /^\d+\.\d+/.exec(rowOf('Temporal server')[0] ?? '') ?? []
  const [major, minor] = server.split('.').map(Number)

  expect(serverIssue(`Server ${server}.0`)).toBeNull()
  expect(serverIssue(`Server ${major}.${Number(minor) - 1}.0`)).not.toBeNull()
  expect(rowOf("Temporal's TypeScript SDK")[0]).toBe(`\`${peerDependencies['@temporalio/worker']}\``)
  expect(rowOf('Node.js')[0]).toBe(`\`${engines.node}\``)
})

test('docs/stability.md: the tested versions are those that the tests use', () => {
  const lowest = (range: string) => range.replace(/^>=(\S+).*$/, '$1')
  const [, python] = /^temporalio==(\S+)/m.exec(textOf('test/support/python-worker.requirements.txt')) ?? []
  const [, go] = /go\.temporal\.io\/sdk v(\S+)/.exec(textOf('test/clients/go-worker/go.mod')) ?? []
  const [, node22] = /nodeOf\('(.+?)'\)/.exec(textOf('dev/servers/components.ts')) ?? []
  const tested = (software: string) => rowOf(software)[1]

  expect(tested('Temporal server')).toBe(
    `${/^\d+\.\d+/.exec(rowOf('Temporal server')[0] ?? '')}, of Temporal CLI ${temporal.version}`,
  )
  expect(tested("Temporal's TypeScript SDK")).toBe(
    `${devDependencies['@temporalio/worker']}; ${lowest(peerDependencies['@temporalio/worker'])} with \`npm run test:long\``,
  )
  expect(tested("Temporal's Python SDK")).toBe(python)
  expect(tested("Temporal's Go SDK")).toBe(`${go}, with \`npm run test:clients\``)
  expect(tested('Node.js')).toBe(`${devDependencies.node}; ${node22} with \`npm run test:long\``)
  expect(tested('Bun')).toBe(devDependencies.bun)
  expect(tested('Deno')).toBe(devDependencies.deno)
  expect(tested('workerd')).toBe(`that of wrangler ${devDependencies.wrangler}`)
})
