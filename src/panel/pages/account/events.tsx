import { webhooksTexts as texts } from '../../texts/account-pages.ts'
import { eventTexts } from '../../texts/events.ts'

const names: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(eventTexts))

export const allEvents = Object.keys(names)

/** Returns the name of an event, or its type if only a newer panel knows it. */
export const eventName = (type: string): string => names[type] ?? type

/** A box for each event, for a form. */
export const EventBoxes = () => (
  <>
    <p class="quiet">{texts.eventsHint}</p>
    <div class="boxes">
      {Object.entries(eventTexts).map(([group, types]) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {Object.entries(types).map(([type, name]) => (
            <label key={type}>
              <input type="checkbox" name={type} value="true" /> {name}
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  </>
)
