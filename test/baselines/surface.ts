/** What programs depend on, as it is today. `docs/stability.md` says what is promised about it. */
import type { Command } from 'commander'
import { EXIT } from '../../src/cli/exit-code.ts'
import { addCompletionHelp, createProgram } from '../../src/cli/program.ts'
import { PROBLEMS } from '../../src/http/errors.ts'
import { generalDocument } from '../../src/http/openapi/general-document.ts'
import { RUN_TOOLS } from '../../src/mcp/run-tools.ts'
import { CATALOG_TYPE } from '../../src/protocol/catalog.ts'
import { memoKeys } from '../../src/protocol/memo-keys.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { parseMetrics } from '../support/prometheus.ts'
import { textOf } from '../support/repository.ts'
import { emitTypes } from './declarations.ts'

/** The texts of all baselines, by file name. */
export async function surface(): Promise<Record<string, string>> {
  const lists = {
    variables: variables(),
    metrics: metrics(),
    cli: cli(),
    'log-fields': logFields(),
    errors: errors(),
    'memo-keys': memo(),
  }
  return {
    ...Object.fromEntries(
      Object.entries(lists).map(([name, lines]) => [`${name}.txt`, `${lines.toSorted().join('\n')}\n`]),
    ),
    'openapi.json': toText(await generalDocument()),
    'mcp-tools.json': toText(Object.fromEntries(RUN_TOOLS.map(({ tool }) => [tool.name, tool.inputSchema]))),
    'types.txt': await emitTypes(),
  }
}

/** With their defaults, where these are values. */
function variables(): string[] {
  const ofService = textOf('docs/configuration.md').matchAll(/^\| `([A-Z]+_[A-Z_]+…?)` \| (?:`([^`]+)`|(required))?/gm)
  const ofCli = textOf('docs/cli.md').matchAll(/^\| `--\w+` \| `([A-Z]+_[A-Z_]+)` \|/gm)
  return [...ofService, ...ofCli].map(([, name, value, required]) => toLine(name, required ?? value))
}

/** Each metric with its type, and each of its labels. */
function metrics(): string[] {
  const metrics = createMetrics({ version: '', runtime: '', transport: '' }, () => [['issuer', 1]])
  const requests = { method: 'GET', route: '/', status: 200, ms: 1 }
  metrics.requestStarted('GET')
  metrics.requestEnded(requests)
  metrics.callEnded({ method: 'StartWorkflowExecution', isPoll: false }, 'OK', 1)
  metrics.callEnded({ method: 'PollWorkflow', isPoll: true }, 'OK', 1)
  metrics.cacheRead('catalog', true)
  metrics.callerDenied('start', 'none')
  metrics.callerLimited('rule')
  const text = metrics.text()
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => toLine(name, type))
  const labels = parseMetrics(text).flatMap(({ name, labels }) =>
    Object.keys(labels).map((label) => `${name}{${label}}`),
  )
  return [...types, ...new Set(labels)]
}

/** Commands with their arguments, options and exit codes. */
function cli(): string[] {
  const program = createProgram()
  addCompletionHelp(program)
  const codes = Object.entries(EXIT).map(([name, code]) => toLine(`exit code ${name}`, String(code)))
  return [...linesOf(program, program.name()), ...codes]
}

function linesOf(command: Command, name: string): string[] {
  const args = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  const options = command.options.flatMap(({ flags, mandatory }) => {
    const [, names = '', value] = /^(.*?)(?: ([<[].*))?$/.exec(flags) ?? []
    return names.split(', ').map((flag) => toLine(`${name} ${flag}`, mandatory ? `required ${value ?? ''}` : value))
  })
  const nested = command.commands.flatMap((child) => linesOf(child, `${name} ${child.name()}`))
  return [toLine(name, args.join(' ')), ...options, ...nested]
}

/** Those that the documentation lists. */
function logFields(): string[] {
  const blocks = textOf('docs/limits-and-logs.md').split('\n\n')
  const tables = blocks.filter((block) => block.startsWith('| Field | Meaning |')).join('\n')
  const rows = [...tables.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)]
  const names = new Set(rows.flatMap(([, names = '']) => names.match(/\w+/g) ?? []))
  return [...names].map((name) => `log field ${name}`)
}

function errors(): string[] {
  return Object.entries(PROBLEMS).map(([name, { status }]) => toLine(name, String(status)))
}

function memo(): string[] {
  return [
    ...memoKeys(CATALOG_TYPE).map((key) => `memo key ${key} of a catalog`),
    ...memoKeys('a workflow').map((key) => `memo key ${key} of a run`),
  ]
}

function toLine(name = '', value = ''): string {
  return value === '' ? name : `${name} = ${value}`
}

// They are for people. A field of the same name is not below one of these keys.
const TEXTS = new Set([
  'description',
  'summary',
  'title',
  'examples',
  'example',
  'externalDocs',
  'info',
  'tags',
  'links',
])

/** JSON without texts and examples. */
function toText(value: unknown): string {
  return `${JSON.stringify(withoutTexts(value), null, 1)}\n`
}

function withoutTexts(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => withoutTexts(element))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => key === 'properties' || !TEXTS.has(name))
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutTexts(field, name)]))
}
