import { parseJson } from '../../../../../shared/lib/json.ts'
import type { Schema } from '../catalog.ts'
import { useMemo, useRef, useState } from '../ui.ts'
import { type Draft, isLossless, toDraft, toText } from './draft.ts'
import { type FieldIssue, hasField } from './issues.ts'
import { type Field, toField } from './schema-field.ts'

export interface Form {
  field: Field
  draft: Draft
  /** The name in the body, such as `input`: where pointers of issues begin. */
  name: string
  isJson: boolean
  /** False for a schema that a form cannot express. */
  hasForm: boolean
  setJson: (isJson: boolean) => void
  /** The JSON of what was entered; undefined if it is left out. Throws a `SyntaxError`. */
  value: () => string | undefined
  /** The body that `wrap` makes of it; undefined if the JSON is not valid. */
  text: (wrap: (value: string | undefined) => string | undefined) => string | undefined
  /** Whether the issue is shown at a field. */
  shows: (issue: FieldIssue) => boolean
  changed: () => void
}

/** A form for a value of the schema. `initial` fills it in, again when it changes. */
export function useForm(schema: Schema | null, name: string, initial?: unknown): Form {
  const own = useMemo(() => toField(schema), [schema])
  const [chosen, setMode] = useState<boolean | null>(null)
  const [, setVersion] = useState(0)
  const changed = () => setVersion((before) => before + 1)
  const structured = useRef<Draft | null>(null)
  const free = useRef<Draft | null>(null)
  const filledWith = useRef<{ schema: Schema | null; initial: unknown; isLossless: boolean } | null>(null)
  if (filledWith.current?.schema !== schema || filledWith.current.initial !== initial) {
    filledWith.current = { schema, initial, isLossless: isLossless(own, initial) }
    structured.current = toDraft(own, initial, true)
    free.current = toDraft(FREE, initial, true)
  }
  const isJson = chosen ?? (own.kind === 'json' || filledWith.current.isLossless === false)
  const field = isJson ? FREE : own
  const draft = ((isJson ? free.current : structured.current) ?? toDraft(field, initial, true)) as Draft
  const value = () => toText(field, draft, true)
  return {
    field,
    draft,
    name,
    isJson,
    hasForm: own.kind !== 'json',
    changed,
    value,
    setJson(next) {
      if (next)
        free.current = {
          ...toDraft(FREE, undefined, true),
          text: indented(toText(own, structured.current ?? draft, true)),
        }
      else structured.current = toDraft(own, parsedOr(free.current?.text ?? ''), true)
      setMode(next)
      changed()
    },
    text(wrap) {
      try {
        return wrap(value())
      } catch {
        return undefined
      }
    },
    shows({ path }) {
      const [, root, ...steps] = path.split('/')
      return root === name && hasField(field, draft, steps)
    },
  }
}

const FREE: Field = { kind: 'json', title: null, description: null, hint: '', initial: undefined, isNullable: false }

function indented(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(parseJson(text), null, 2)
}

function parsedOr(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : parseJson(text)
  } catch {
    return undefined
  }
}
