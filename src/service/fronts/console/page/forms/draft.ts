/** What has been entered into a form. Numbers stay text, because they may have more digits than a double. */
import { canonicalJson, isObject, parseJson } from '../../../../../shared/lib/json.ts'
import { toLocal, toUtc } from '../format.ts'
import type { Field } from './schema-field.ts'

export interface Draft {
  /** Of a string, number, choice (its index) or JSON. */
  text: string
  isNull: boolean
  /** Whether an optional value is part of the body. */
  isSet: boolean
  properties: Map<string, Draft>
  items: { key: number; draft: Draft }[]
}

let nextKey = 0

/** The draft of a value; `undefined` stands for none. */
export function toDraft(field: Field, value: unknown, isRequired: boolean): Draft {
  const given = value === undefined ? field.initial : value
  return {
    text: textOf(field, given),
    isNull: field.isNullable && given === null,
    isSet: isRequired || given !== undefined,
    properties: propertiesOf(field, given),
    items: field.kind === 'array' && Array.isArray(given) ? given.map((item) => toItem(field.items, item)) : [],
  }
}

function propertiesOf(field: Field, given: unknown): Map<string, Draft> {
  if (field.kind !== 'object') return new Map()
  const memberOf = (name: string) => (isObject(given) && Object.hasOwn(given, name) ? given[name] : undefined)
  return new Map(
    field.properties.map(({ name, field: own, isRequired }) => [name, toDraft(own, memberOf(name), isRequired)]),
  )
}

function toItem(field: Field, value: unknown): Draft['items'][number] {
  return { key: nextKey++, draft: toDraft(field, value, true) }
}

function textOf(field: Field, given: unknown): string {
  switch (field.kind) {
    case 'string':
      return typeof given === 'string' ? stringOf(field, given) : ''
    case 'number':
      return given == null ? '' : JSON.stringify(given)
    case 'boolean':
      return typeof given === 'boolean' ? String(given) : ''
    case 'choice':
      return choiceOf(field, given)
    case 'json':
      return given === undefined ? '' : JSON.stringify(given, null, 2)
    default:
      return ''
  }
}

function stringOf({ input }: Field & { kind: 'string' }, given: string): string {
  return input === 'datetime-local' ? toLocal(given) : given
}

function choiceOf({ values }: Field & { kind: 'choice' }, given: unknown): string {
  const at = values.findIndex((one) => JSON.stringify(one) === JSON.stringify(given))
  return at === -1 ? '' : String(at)
}

export function addItem(field: Field & { kind: 'array' }, draft: Draft): void {
  draft.isSet = true
  draft.items.push(toItem(field.items, undefined))
}

/** The JSON of what was entered; undefined if it is left out. Throws a `SyntaxError` for JSON that is not valid. */
export function toText(field: Field, draft: Draft, isRequired: boolean): string | undefined {
  if (draft.isNull) return 'null'
  switch (field.kind) {
    case 'constant':
      return JSON.stringify(field.value)
    case 'object':
      return draft.isSet ? objectText(field, draft) : undefined
    case 'array':
      return draft.isSet || isRequired ? arrayText(field, draft) : undefined
    case 'string':
      // An empty text is a value where there must be one.
      return draft.text === '' && !(isRequired && field.input === 'text') ? undefined : stringText(field, draft)
    default:
      return draft.text.trim() === '' ? undefined : scalarText(field, draft.text.trim())
  }
}

function stringText({ input }: Field & { kind: 'string' }, { text }: Draft): string {
  return JSON.stringify(input === 'datetime-local' ? toUtc(text) : text)
}

function scalarText(field: Field, text: string): string {
  if (field.kind === 'number') return toNumberText(text)
  if (field.kind === 'choice') return JSON.stringify(field.values[Number(text)])
  if (field.kind === 'json') JSON.parse(text)
  return text
}

function arrayText({ items }: Field & { kind: 'array' }, draft: Draft): string {
  return `[${draft.items.map(({ draft: item }) => toText(items, item, true) ?? 'null').join(',')}]`
}

function objectText(field: Field & { kind: 'object' }, draft: Draft): string {
  const members = field.properties.flatMap(({ name, field: property, isRequired }) => {
    const own = draft.properties.get(name)
    const text = own && toText(property, own, isRequired)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

/** What is not a number is sent as text, so that the service says what is wrong. */
function toNumberText(text: string): string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : JSON.stringify(text)
}

/** False if the form would leave out or change a part of the value: then it is edited as JSON. */
export function isLossless(field: Field, value: unknown): boolean {
  if (value === undefined) return true
  const text = toText(field, toDraft(field, value, true), true)
  return text !== undefined && canonicalJson(parseJson(text)) === canonicalJson(value)
}
