import { api, ask } from './api.ts'
import { passkeysTexts as texts } from './texts/sign-in.ts'

/** Whether the browser supports passkeys here: only over HTTPS and on localhost. */
export const hasPasskeys = (): boolean =>
  isSecureContext && 'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** The API's options need no conversion: both sides use the format of WebAuthn. */
type Options = PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON

/** Creates a passkey on a device for the signed-in person. */
export async function addPasskey(name: string): Promise<void> {
  const { data } = await ask<object>(() => api.POST('/v1/passkeys/options'))
  const credential = await newKey(data)
  await ask(() => api.POST('/v1/passkeys', { body: { name, credential } }))
}

/**
 * Does the same for the person of a link.
 * @returns the new credential for `POST /v1/password-links/passkey`
 */
export async function newKeyByLink(token: string) {
  const { data } = await ask<object>(() => api.POST('/v1/password-links/passkey/options', { body: { token } }))
  return newKey(data)
}

async function newKey(options: object) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as Options)
  const { id, response } = await asked(navigator.credentials.create({ publicKey }))
  if (!('attestationObject' in response)) throw new Error(texts.notConfirmed)
  const { clientDataJSON, attestationObject, transports } = response
  return { id, response: { clientDataJSON, attestationObject, transports } }
}

/** Signs in with any passkey that the device has. */
export async function usePasskey() {
  const { data } = await ask<object>(() => api.POST('/v1/session/passkey/options'))
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(data as Options)
  const { id, response } = await asked(navigator.credentials.get({ publicKey }))
  if (!('signature' in response)) throw new Error(texts.notConfirmed)
  const { clientDataJSON, authenticatorData, signature } = response
  return { id, response: { clientDataJSON, authenticatorData, signature } }
}

async function asked(device: Promise<Credential | null>) {
  const credential = await device.catch(() => null)
  if (!(credential instanceof PublicKeyCredential)) throw new Error(texts.notConfirmed)
  return credential.toJSON()
}
