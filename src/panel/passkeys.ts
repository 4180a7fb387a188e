import { api, ask } from './api.ts'
import { passkeysTexts as texts } from './texts/sign-in.ts'

/** Whether the browser has them, here: it gives them over https and on localhost alone. */
export const hasPasskeys = (): boolean =>
  isSecureContext && 'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** What the API says is what browsers take: both are WebAuthn's own form. */
type Options = PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON

/** Lets a device make a key for the person who is signed in. */
export async function addPasskey(name: string): Promise<void> {
  const { data } = await ask<object>(() => api.POST('/v1/passkeys/options'))
  const credential = await newKey(data)
  await ask(() => api.POST('/v1/passkeys', { body: { name, credential } }))
}

/** The same for whom a link is for. @returns what the device has made, for `POST /v1/password-links/passkey` */
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

/** Lets a device sign, for whoever it knows. */
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
