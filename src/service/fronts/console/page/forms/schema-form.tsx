import { issuesOf } from '../api.ts'
import { ErrorMessage } from '../parts.tsx'
import { useEffect, useId, useRef } from '../ui.ts'
import { addItem } from './draft.ts'
import { escaped, issueAt } from './issues.ts'
import { type FieldProps, Notes, ScalarField } from './scalar-field.tsx'
import type { Field, Property } from './schema-field.ts'
import type { Form } from './use-form.ts'

/** The fields of a form, with each issue at its field. */
export function SchemaForm({ form, error }: { form: Form; error: unknown }) {
  const issues = issuesOf(error)
  const { field, draft, name, isJson, setJson, changed } = form
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (issues.length > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  const pointer = `/${name}`
  return (
    <div class="schema-form" ref={box}>
      {field.kind === 'object' ? (
        <>
          {issueAt(issues, pointer) !== null && <p class="issue">{issueAt(issues, pointer)}</p>}
          <Properties {...{ draft, pointer, issues, changed }} properties={field.properties} />
        </>
      ) : (
        <FieldOf
          {...{ draft, pointer, issues, changed }}
          property={{ name: isJson ? `${name}, as JSON` : name, field, isRequired: true }}
        />
      )}
      {form.hasForm && (
        <p class="mode">
          <button type="button" class="ghost" onClick={() => setJson(!isJson)}>
            {isJson ? 'Edit as a form' : 'Edit as JSON'}
          </button>
        </p>
      )}
    </div>
  )
}

/** What was rejected, unless each issue is at its field. */
export function FormFailure({ form, error }: { form: Form; error: unknown }) {
  const issues = issuesOf(error)
  if (error === null) return null
  if (issues.length === 0 || !issues.every(form.shows)) return <ErrorMessage error={error} />
  return (
    <p class="issue summary" role="alert">
      {issues.length === 1 ? 'One field is not valid.' : `${issues.length} fields are not valid.`}
    </p>
  )
}

function Properties({ properties, ...shared }: { properties: readonly Property[] } & Omit<FieldProps, 'property'>) {
  return (
    <>
      {properties.map((property) => {
        const draft = shared.draft.properties.get(property.name)
        const pointer = `${shared.pointer}/${escaped(property.name)}`
        return draft && <FieldOf key={property.name} {...{ ...shared, property, draft, pointer }} />
      })}
    </>
  )
}

function FieldOf(props: FieldProps) {
  const { field } = props.property
  if (field.kind === 'constant') return null
  if (field.kind === 'object') return <ObjectField {...props} field={field} />
  if (field.kind === 'array') return <ArrayField {...props} field={field} />
  return <ScalarField {...props} />
}

/** What an object and a list have in common: a title, notes, and what is wrong. */
function Group({ property, pointer, issues, children }: FieldProps & { children: unknown }) {
  const { field } = property
  const id = useId()
  const issue = issueAt(issues, pointer)
  return (
    <fieldset class="group" aria-describedby={issue === null ? undefined : `${id}issue`}>
      <legend>
        {field.title ?? property.name} {!property.isRequired && <span class="optional">optional</span>}
      </legend>
      <Notes id={id} field={field} issue={issue} />
      {children}
    </fieldset>
  )
}

function ObjectField(props: FieldProps & { field: Field & { kind: 'object' } }) {
  const { property, field, draft, changed } = props
  const { name, isRequired } = property
  return (
    <Group {...props}>
      {draft.isSet && <Properties {...props} properties={field.properties} />}
      {!isRequired && (
        <button
          type="button"
          class="ghost"
          onClick={() => {
            draft.isSet = !draft.isSet
            changed()
          }}
        >
          {draft.isSet ? `Remove ${name}` : `Add ${name}`}
        </button>
      )}
    </Group>
  )
}

function ArrayField(props: FieldProps & { field: Field & { kind: 'array' } }) {
  const { property, field, draft, pointer, changed } = props
  const { name, isRequired } = property
  return (
    <Group {...props}>
      {draft.items.map(({ key, draft: item }, at) => (
        <div class="list-item" key={key}>
          <FieldOf
            {...props}
            property={{ name: `${name} ${at + 1}`, field: field.items, isRequired: true }}
            draft={item}
            pointer={`${pointer}/${at}`}
          />
          <button
            type="button"
            class="ghost icon"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => {
              draft.items.splice(at, 1)
              if (draft.items.length === 0 && !isRequired) draft.isSet = false
              changed()
            }}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        class="ghost"
        onClick={() => {
          addItem(field, draft)
          changed()
        }}
      >
        Add {name}
      </button>
    </Group>
  )
}
