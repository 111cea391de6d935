import { VERBATIM } from '../parts.tsx'
import { useId } from '../ui.ts'
import type { Draft } from './draft.ts'
import { type FieldIssue, issueAt } from './issues.ts'
import type { Field, Property } from './schema-field.ts'

export interface FieldProps {
  property: Property
  draft: Draft
  pointer: string
  issues: readonly FieldIssue[]
  changed: () => void
}

/** A field with one value, and what is to be known about it. */
export function ScalarField({ property, draft, pointer, issues, changed }: FieldProps) {
  const { name, field, isRequired } = property
  const id = useId()
  const issue = issueAt(issues, pointer)
  const described = [field.description || field.hint ? `${id}hint` : '', issue === null ? '' : `${id}issue`]
    .filter(Boolean)
    .join(' ')
  const common = {
    id: `${id}field`,
    'aria-invalid': issue === null ? undefined : 'true',
    'aria-describedby': described || undefined,
    'aria-required': isRequired ? 'true' : undefined,
    disabled: draft.isNull,
    onInput: (event: Event) => {
      draft.text = (event.target as HTMLInputElement).value
      draft.isSet = true
    },
  }
  return (
    <div class={field.kind === 'json' || (field.kind === 'string' && field.isLong) ? 'field wide' : 'field'}>
      <label for={common.id}>
        {field.title ?? name} {!isRequired && <span class="optional">optional</span>}
      </label>
      <ScalarInput property={property} draft={draft} common={common} />
      {field.isNullable && (
        <label class="check">
          <input
            type="checkbox"
            checked={draft.isNull}
            onInput={(event: Event) => {
              draft.isNull = (event.target as HTMLInputElement).checked
              changed()
            }}
          />
          null
        </label>
      )}
      <Notes id={id} field={field} issue={issue} />
    </div>
  )
}

export function Notes({ id, field, issue }: { id: string; field: Field; issue: string | null }) {
  const notes = [field.description, field.hint].filter(Boolean)
  return (
    <>
      {notes.length > 0 && (
        <p class="hint" id={`${id}hint`}>
          {notes.join('. ').replace(/\.\. /g, '. ')}
        </p>
      )}
      {issue !== null && (
        <p class="issue" id={`${id}issue`}>
          {issue}
        </p>
      )}
    </>
  )
}

function ScalarInput({ property, draft, common }: InputProps) {
  const { field } = property
  const plain = { ...VERBATIM, value: draft.text }
  if (field.kind === 'choice' || field.kind === 'boolean')
    return <Choice property={property} draft={draft} common={common} />
  if (field.kind === 'json') return <textarea {...common} {...plain} rows={6} class="code" />
  if (field.kind === 'number') return <input {...common} {...plain} inputmode="decimal" />
  if (field.kind === 'string' && field.isLong) return <textarea {...common} {...plain} rows={3} />
  const step = field.kind === 'string' && field.input !== 'text' ? { step: 'any' } : {}
  return <input {...common} {...plain} {...step} type={field.kind === 'string' ? field.input : 'text'} />
}

function Choice({ property: { field, isRequired }, draft, common }: InputProps) {
  const hasEmpty = !isRequired || draft.text === ''
  return (
    <select {...common}>
      {hasEmpty && <option value="">{isRequired ? 'Choose…' : 'not set'}</option>}
      {optionsOf(field).map(([value, label]) => (
        <option key={value} value={value} selected={value === draft.text}>
          {label}
        </option>
      ))}
    </select>
  )
}

function optionsOf(field: Field): [string, string][] {
  if (field.kind !== 'choice') return ['true', 'false'].map((value) => [value, value])
  return field.values.map((value, at) => [String(at), typeof value === 'string' ? value : JSON.stringify(value)])
}

interface InputProps {
  property: Property
  draft: Draft
  common: Record<string, unknown>
}
