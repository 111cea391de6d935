import { useEffect, useId, useRef } from '../ui.ts'
import { addItem } from './draft.ts'
import { escaped, type Issue, issueAt } from './issues.ts'
import { type FieldProps, Notes, ScalarField } from './scalar-field.tsx'
import type { Field, Property } from './schema-field.ts'
import type { Form } from './use-form.ts'

/** The fields of a form, with each issue at its field. */
export function SchemaForm({ form, issues }: { form: Form; issues: readonly Issue[] }) {
  const { field, draft, name, isJson, setJson, changed } = form
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (issues.length > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [issues])
  const pointer = `/${name}`
  return (
    <div class="schema-form" ref={box}>
      {field.kind === 'object' ? (
        <>
          {issueAt(issues, pointer) !== null && <p class="issue">{issueAt(issues, pointer)}</p>}
          <Properties properties={field.properties} draft={draft} pointer={pointer} issues={issues} changed={changed} />
        </>
      ) : (
        <FieldOf
          property={{ name: isJson ? `${name}, as JSON` : name, field, isRequired: true }}
          draft={draft}
          pointer={pointer}
          issues={issues}
          changed={changed}
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

function Properties({
  properties,
  draft,
  pointer,
  issues,
  changed,
}: { properties: readonly Property[] } & Omit<FieldProps, 'property'>) {
  return (
    <>
      {properties.map((property) => {
        const own = draft.properties.get(property.name)
        return (
          own && (
            <FieldOf
              key={property.name}
              property={property}
              draft={own}
              pointer={`${pointer}/${escaped(property.name)}`}
              issues={issues}
              changed={changed}
            />
          )
        )
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
  const { property, field, draft, pointer, issues, changed } = props
  const { name, isRequired } = property
  const toggle = (isSet: boolean) => {
    draft.isSet = isSet
    changed()
  }
  return (
    <Group {...props}>
      {draft.isSet && (
        <Properties properties={field.properties} draft={draft} pointer={pointer} issues={issues} changed={changed} />
      )}
      {!isRequired && (
        <button type="button" class="ghost" onClick={() => toggle(!draft.isSet)}>
          {draft.isSet ? `Remove ${name}` : `Add ${name}`}
        </button>
      )}
    </Group>
  )
}

function ArrayField(props: FieldProps & { field: Field & { kind: 'array' } }) {
  const { property, field, draft, pointer, issues, changed } = props
  const { name, isRequired } = property
  return (
    <Group {...props}>
      {draft.items.map(({ key, draft: item }, at) => (
        <div class="list-item" key={key}>
          <FieldOf
            property={{ name: `${name} ${at + 1}`, field: field.items, isRequired: true }}
            draft={item}
            pointer={`${pointer}/${at}`}
            issues={issues}
            changed={changed}
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
