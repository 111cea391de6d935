/** Tables of settings, made of their declarations: the calls of `variables` with which the programs read them. */
import type { Variable, Variables } from '../../src/shared/config/variables.ts'
import { readWorkerConfig } from '../../src/shared/config/worker.ts'
import { readConfig } from '../../src/shared/config.ts'
import { SETTINGS } from './settings.ts'
import { head, row, type Table } from './tables.ts'

/** The settings of one table of `SETTINGS`. A column of defaults that says nothing is left out. */
export const settingTable: Table = (_, [table = '']) => {
  const defaults = declaredDefaults()
  const rows = Object.entries(SETTINGS[table] ?? {}).map(([name, text]) => {
    const [defaultText, meaning] = typeof text === 'string' ? [defaults.get(name), text] : text
    if (!defaults.has(name)) throw new Error(`Nothing reads the setting ${name}`)
    return [`\`${name}\``, defaultText ?? 'none', meaning]
  })
  const hasDefaults = rows.some(([, text]) => text !== 'none')
  const shown = [['Variable', 'Default', 'Meaning'], ...rows].map((cells) =>
    cells.filter((_, at) => at !== 1 || hasDefaults),
  )
  return [...head(...(shown[0] ?? [])), ...shown.slice(1).map((cells) => row(...cells))]
}

/** The default of each setting, as text; null without one. Throws if one has no text in `SETTINGS`. */
function declaredDefaults(): Map<string, string | null> {
  const defaults = new Map<string, string | null>([['SERVICE_WEBHOOK_…', null]])
  const described = new Set(Object.values(SETTINGS).flatMap((table) => Object.keys(table)))
  const declare = (name: string, text: string | null) => {
    if (!described.has(name)) throw new Error(`dev/docs/settings.ts does not describe ${name}`)
    defaults.set(name, text ?? defaults.get(name) ?? null)
  }
  const variables: Variables = {
    read(name) {
      declare(name, null)
      return null
    },
    readOr(name, variable, fallback) {
      declare(name, textOf(fallback, variable))
      return fallback
    },
    isSet(name) {
      declare(name, null)
      return false
    },
    startingWith(prefix) {
      declare(`${prefix}…`, null)
      return {}
    },
    report: () => {},
  }
  readConfig(variables, { binds: true })
  readWorkerConfig(variables, true, () => ({ error: '' }))
  return defaults
}

const KIBIBYTE = 1024
const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS

function textOf(value: unknown, variable: Variable<unknown>): string {
  if (typeof value !== 'number') return `\`${value}\``
  if (variable.safeParse('1h').success)
    return value % HOUR_MS === 0 ? `\`${value / HOUR_MS}h\`` : `\`${value / SECOND_MS}s\``
  if (value < KIBIBYTE ** 2 / 16 || value % KIBIBYTE !== 0) return `\`${value}\``
  const mebibytes = value / KIBIBYTE ** 2
  return `\`${value}\` (${Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${value / KIBIBYTE} KiB`})`
}
