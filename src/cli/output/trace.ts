import { isObject } from '../../lib/is-object.ts'
import { paint } from './paint.ts'
import { cellOf, durationCell } from './value.ts'

/** The steps of a run as a tree, with how long each took. */
export function renderTrace(trace: unknown): string {
  if (!isObject(trace) || !isObject(trace.data)) return cellOf(trace)
  const { data, source, complete, warnings } = trace
  return [
    lineOf(data),
    ...childrenOf(data, ''),
    '',
    paint('dim', `source: ${cellOf(source)}${complete === true ? '' : ', the run is open'}`),
    ...(Array.isArray(warnings) ? warnings.map((warning) => paint('yellow', cellOf(warning))) : []),
  ].join('\n')
}

function childrenOf(node: Record<string, unknown>, indent: string): string[] {
  const children = Array.isArray(node.children) ? node.children.filter(isObject) : []
  return children.flatMap((child, index) => {
    const isLast = index === children.length - 1
    const branch = paint('dim', `${indent}${isLast ? '└─ ' : '├─ '}`)
    return [branch + lineOf(child), ...childrenOf(child, `${indent}${isLast ? '   ' : '│  '}`)]
  })
}

function lineOf({ kind, name, startedAt, endedAt, error }: Record<string, unknown>): string {
  const took = typeof startedAt === 'number' && typeof endedAt === 'number' ? durationCell(endedAt - startedAt) : 'open'
  const failure = isObject(error) ? paint('red', `  ${cellOf(error.name)}: ${cellOf(error.message)}`) : ''
  const kindLabel = kind === 'step' || kind === 'workflow' ? '' : paint('dim', `${cellOf(kind)} `)
  return `${kindLabel}${cellOf(name)}  ${paint('dim', took)}${failure}`
}
