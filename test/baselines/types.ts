/**
 * Compares the types of the package with the TypeScript checker: what an entry point exported must still be usable in
 * its place.
 */
import { join } from 'node:path'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'
import { type Declarations, inFolder, tsc, unpack, writeTo } from './declarations.ts'
import { compareByKey, type Difference, type Report } from './differences.ts'

/** Type arguments for generic functions: the checker cannot compare conditional types without them. */
const ARGUMENTS = new Map([
  [
    'portico/client createClient',
    '<{ greet: { args: [{ name: string }, string?]; output: string; signals: { go: [number] }; ' +
      'queries: { state: { args: []; result: string } }; updates: { add: { args: [number]; result: number } } } }>',
  ],
  ['portico/worker defineCatalog', '<{ greet(order: { name: string }, text?: string): Promise<string> }>'],
])

/** A line of a program that compiles if an export can still be used. */
interface Check {
  name: string
  line: string
  /** A type may be one that programs read, write or both: it only fails if it fits in neither direction. */
  isType: boolean
}

export async function compareTypes(before: string, now: string): Promise<Difference[]> {
  const [old, young] = [unpack(before), unpack(now)]
  const found: Difference[] = []
  const checks: Check[] = []
  const imports: string[] = []
  const both = (file: string, next: string, entry: string) => {
    const index = imports.push(importOf('before', file, imports.length), importOf('now', next, imports.length)) - 2
    const [one, other] = [exportsOf(old.declarations[file]), exportsOf(young.declarations[next])]
    checks.push(...checksOf({ entry, index }, one, other, report))
  }
  const report: Report = (difference) => found.push(difference)
  compareByKey(old.entries, young.entries, { nameOf: (entry) => entry, both }, report)
  const errors = await runChecks(imports, checks, old.declarations, young.declarations)
  for (const [name, ofName] of Map.groupBy(checks, ({ name }) => name)) {
    const [failed, ...more] = ofName.filter((check) => errors.has(check))
    const isBroken = failed !== undefined && (!failed.isType || more.length > 0)
    if (isBroken) found.push({ breaks: true, name, how: errors.get(failed) ?? '' })
  }
  if (found.length === 0 && before !== now)
    found.push({ breaks: false, name: 'types', how: 'have changed, and programs still compile' })
  return found
}

function importOf(side: string, file: string, index: number): string {
  return `import * as ${side}${index} from './${side}/${file.replace('.d.ts', '.js')}'`
}

/** Reports exports that only one side has, and checks the others. */
function checksOf(place: { entry: string; index: number }, before: Exports, now: Exports, report: Report): Check[] {
  const checks: Check[] = []
  const both = (isType: boolean, _: boolean, name: string) => {
    const exported = name.split(' ').at(-1) ?? ''
    const [one, other] = [`before${place.index}.${exported}`, `now${place.index}.${exported}`]
    const given = ARGUMENTS.get(name) ?? ''
    const lines = isType
      ? [`: ${one} = null! as ${other}`, `: ${other} = null! as ${one}`]
      : [`: typeof ${one}${given} = ${other}${given}`]
    for (const line of lines) checks.push({ name, line, isType })
  }
  compareByKey(before, now, { nameOf: (key) => `${place.entry} ${key}`, both }, report)
  return checks
}

/** The errors of the checks that do not compile. */
async function runChecks(
  imports: readonly string[],
  checks: readonly Check[],
  before: Declarations,
  now: Declarations,
): Promise<Map<Check, string>> {
  const lines = checks.map(({ line }, index) => `export const check${index}${line}`)
  const known = mapValues(before, (code) => strictMethods(withOpenTypes(code)))
  const output = await inFolder(async (folder) => {
    await writeTo(join(folder, 'before'), known)
    await writeTo(join(folder, 'now'), mapValues(now, strictMethods))
    await writeTo(folder, { 'check.ts': [...imports, ...lines].join('\n') })
    return tsc(folder, { compilerOptions: { noUnusedLocals: false }, files: ['check.ts'] })
  })
  const found = [...output.matchAll(ERROR)]
  const errors = new Map<Check, string>()
  for (const [, line, code = '', message = ''] of found) {
    const check = checks[Number(line) - imports.length - 1]
    if (check === undefined) throw new Error(`The checks cannot be compiled: ${message}`)
    // The last line says which part of the type does not fit.
    const reason = message.split('\n').at(-1)?.trim() ?? ''
    if (!IS_GENERIC.includes(code)) errors.set(check, reason.replaceAll(/import\("[^"]*"\)\./g, ''))
  }
  if (found.length === 0 && output !== '') throw new Error(`The checks cannot be compiled: ${output}`)
  return errors
}

// An error with the lines that explain it.
const ERROR = /^check\.ts\((\d+),\d+\): error (TS\d+): (.*(?:\n +.*)*)/gm

// A generic type without its arguments. It is compared where a value uses it.
const IS_GENERIC = ['TS2314', 'TS2707']

/**
 * What may grow, according to docs/stability.md: sets of names, ports of the engine, and what programs get from
 * `parseConfig` and `parsePolicy` and only pass on.
 */
const OPEN = ['ErrorName', 'OpenStatus', 'ClosedStatus', 'Engine', 'Transport', 'Config', 'Policy']

/** Fits to whatever these types have become. The lists of names say which ones were removed. */
function withOpenTypes(code: string): string {
  const edits: Edit[] = []
  const open = ({ id, start, end }: Range & { id: { name: string } }) => {
    if (OPEN.includes(id.name)) edits.push({ start, end, text: `type ${id.name} = any;` })
  }
  new Visitor({ TSInterfaceDeclaration: open, TSTypeAliasDeclaration: open }).visit(parse(code))
  return edited(code, edits)
}

function mapValues(declarations: Declarations, map: (code: string) => string): Declarations {
  return Object.fromEntries(Object.entries(declarations).map(([file, code]) => [file, map(code)]))
}

/** The names that a module exports: whether each of them is only a type. */
type Exports = Record<string, boolean>

function exportsOf(code = ''): Exports {
  const exports: Exports = {}
  new Visitor({
    ExportDefaultDeclaration() {
      exports.default = false
    },
    ExportNamedDeclaration({ declaration, specifiers, exportKind }) {
      for (const { exported, exportKind: kind } of specifiers)
        if ('name' in exported) exports[exported.name] = [kind, exportKind].includes('type')
      for (const { name, isType } of namesIn(declaration)) exports[name] = isType
    },
  }).visit(parse(code))
  return exports
}

function namesIn(declaration: ESTree.Declaration | null): { name: string; isType: boolean }[] {
  if (declaration === null) return []
  const isType = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'].includes(declaration.type)
  const named = declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration]
  return named.flatMap(({ id }) => (id?.type === 'Identifier' ? [{ name: id.name, isType }] : []))
}

/**
 * Writes methods of interfaces as properties with a function, whose parameters the checker compares strictly, so that a
 * new required option is found. A type parameter becomes its constraint, because the checker cannot compare types that
 * depend on one. Overloads become several properties.
 */
function strictMethods(code: string): string {
  const edits: Edit[] = []
  const scopes: { range: Range; constraints: Map<string, string> }[] = []
  // How many methods of each name the types around the current place have.
  const counts: Map<string, number>[] = []
  const enter = () => void counts.push(new Map())
  const leave = () => void counts.pop()
  const textOf = ({ start, end }: Range) => code.slice(start, end)
  new Visitor({
    TSInterfaceBody: enter,
    'TSInterfaceBody:exit': leave,
    TSTypeLiteral: enter,
    'TSTypeLiteral:exit': leave,
    TSMethodSignature(method) {
      const { kind, key, returnType, typeParameters } = method
      if (kind !== 'method' || returnType === null) return
      const start = typeParameters?.start ?? code.indexOf('(', key.end)
      edits.push({ start, end: typeParameters?.end ?? start, text: ': ' })
      edits.push({ start: returnType.start, end: returnType.start + 1, text: ' =>' })
      const earlier = counts.at(-1)?.get(textOf(key)) ?? 0
      counts.at(-1)?.set(textOf(key), earlier + 1)
      if (earlier > 0) edits.push({ start: key.end, end: key.end, text: `_${earlier}` })
      const parameters = (typeParameters?.params ?? []).map(({ name, constraint }) => {
        return [name.name, constraint === null ? 'unknown' : `(${textOf(constraint)})`] as const
      })
      scopes.push({ range: method, constraints: new Map(parameters) })
    },
    TSTypeReference({ typeName, start, end }) {
      const around = scopes.filter(({ range }) => range.start <= start && end <= range.end)
      const constraint = around.map(({ constraints }) => constraints.get(textOf(typeName))).findLast(Boolean)
      if (constraint !== undefined) edits.push({ start, end, text: constraint })
    },
  }).visit(parse(code))
  return edited(code, edits)
}

function edited(code: string, edits: readonly Edit[]): string {
  const fromEnd = edits.toSorted((one, other) => other.start - one.start)
  return fromEnd.reduce((text, { start, end, text: insert }) => text.slice(0, start) + insert + text.slice(end), code)
}

interface Range {
  start: number
  end: number
}

interface Edit extends Range {
  text: string
}

function parse(code: string) {
  return parseSync('declarations.d.ts', code).program
}
