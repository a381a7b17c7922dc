// Runs in the browser on pages that ask for a passkey. Each form with data-passkey has the options of the server; the answer goes
// into its field and the form is sent as usual. Forms stay hidden where the browser has no passkeys.
const supported =
  "PublicKeyCredential" in window &&
  "parseRequestOptionsFromJSON" in PublicKeyCredential &&
  "parseCreationOptionsFromJSON" in PublicKeyCredential;

async function ask({ passkey, options }) {
  const publicKey = JSON.parse(options);
  if (passkey === "create") {
    const parsed = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
    return await navigator.credentials.create({ publicKey: parsed });
  }
  const parsed = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
  return await navigator.credentials.get({ publicKey: parsed });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector("[role=alert]");
  form.hidden = !supported;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    try {
      const credential = await ask(form.dataset);
      form.elements.namedItem("answer").value = JSON.stringify(credential);
      form.submit();
    } catch (error) {
      problem.textContent =
        error.name === "InvalidStateError"
          ? "This passkey is already set up."
          : "No passkey was used. Try again, or choose another way.";
    }
  });
}
