import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Styles the string if stdout is a terminal that shows colors, and `NO_COLOR` and `FORCE_COLOR` allow it. */
export function paint(style: Style, value: string): string {
  return styleText(style, value, { stream: process.stdout })
}

const STATUS_STYLES = new Map<string, Style>([
  ['completed', 'green'],
  ['continued', 'green'],
  ['running', 'cyan'],
  ['paused', 'yellow'],
  ['canceled', 'yellow'],
  ['failed', 'red'],
  ['terminated', 'red'],
  ['timed_out', 'red'],
])

/** All statuses of runs. */
export const STATUSES = [...STATUS_STYLES.keys()]

export function paintStatus(status: string): string {
  return paint(STATUS_STYLES.get(status) ?? 'dim', status)
}
