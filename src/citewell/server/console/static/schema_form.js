// Forms made of JSON schemas, and the arguments that such a form holds.
"use strict";

const schemaForm = (() => {
  // An optional value is written as a choice between its type and null.
  const plain = (property, schema) => {
    const named = property.$ref?.startsWith("#/$defs/") ? schema.$defs?.[property.$ref.slice(8)] : null;
    const whole = { ...named, ...property };
    if (Array.isArray(whole.type)) {
      const types = whole.type.filter((type) => type !== "null");
      if (types.length === 1) [whole.type] = types;
      else whole.anyOf = types.map((type) => ({ type }));
    }
    const options = whole.anyOf?.filter((option) => option.type !== "null");
    return options?.length === 1 ? { ...whole, ...plain(options[0], schema), anyOf: undefined } : whole;
  };

  const isNumber = ({ type }) => type === "integer" || type === "number";
  const isList = ({ type, items }) => type === "array" && items?.type === "string";

  // One text or several: one a line, which nobody has to write as JSON.
  const isOneOrList = ({ anyOf }) => anyOf?.some((option) => option.type === "string") && anyOf.some(isList);

  // A field that takes text or something else is text, unless what is written reads as JSON.
  const typeOf = (property) => {
    if (isList(property)) return "lines";
    if (isOneOrList(property)) return "line or lines";
    if (property.anyOf?.some((option) => option.type === "string")) return "text or JSON";
    return property.type ?? "json";
  };

  const selectOf = (property, { unset, standard }) => {
    // To leave it out is to send null, which nobody has to choose.
    const values = (property.enum ?? [true, false]).filter((value) => value !== null);
    const first = property.default === undefined || property.default === null ? unset : standard.replace("{value}", property.default);
    const select = document.createElement("select");
    select.append(new Option(first, ""), ...values.map((value) => new Option(String(value), JSON.stringify(value))));
    return select;
  };

  const inputOf = (property, texts) => {
    if (property.enum || property.type === "boolean") return selectOf(property, texts);
    const isText = ["string", "text or JSON"].includes(typeOf(property));
    const isLong = isText && property.maxLength > 1000;
    const input = document.createElement((isText && !isLong) || isNumber(property) ? "input" : "textarea");
    if (isNumber(property)) {
      input.type = "number";
      input.step = property.type === "integer" ? "1" : "any";
      if ("minimum" in property) input.min = property.minimum;
      if ("maximum" in property) input.max = property.maximum;
    }
    if (input.tagName === "TEXTAREA") input.rows = 2;
    if (property.default !== undefined && property.default !== null) input.placeholder = JSON.stringify(property.default);
    else if (isList(property) || isOneOrList(property)) input.placeholder = texts.one_per_line;
    else if (!isText && !isNumber(property)) input.placeholder = texts.as_json;
    return input;
  };

  const fieldOf = (name, property, isRequired, texts) => {
    const label = document.createElement("label");
    const input = inputOf(property, texts);
    input.name = name;
    input.required = isRequired;
    input.spellcheck = false;
    input.dataset.type = typeOf(property);
    const about = [isRequired ? texts.required : null, property.description].filter(Boolean).join(" ");
    const title = document.createElement("code");
    title.textContent = name;
    label.append(title, input);
    if (about) label.append(Object.assign(document.createElement("span"), { className: "hint", textContent: about }));
    return label;
  };

  const fieldsOf = (schema, texts) =>
    Object.entries(schema.properties ?? {}).map(([name, property]) =>
      fieldOf(name, plain(property, schema), (schema.required ?? []).includes(name), texts),
    );

  const valueOf = (input) => {
    const { value, dataset } = input;
    if (input.tagName === "SELECT") return JSON.parse(value);
    const isJson = /^\s*[[{]/.test(value);
    if (dataset.type === "string" || (dataset.type === "text or JSON" && !isJson)) return value;
    if (dataset.type.endsWith("lines") && !isJson) {
      const lines = value.split("\n").map((line) => line.trim()).filter(Boolean);
      return dataset.type === "line or lines" && lines.length === 1 ? lines[0] : lines;
    }
    return input.type === "number" ? Number(value) : JSON.parse(value);
  };

  // The arguments; null after the browser has said which field is wrong.
  const argumentsOf = (form, texts) => {
    const args = {};
    for (const input of form.querySelectorAll("[data-type]")) {
      input.setCustomValidity("");
      if (input.value === "") continue;
      try {
        args[input.name] = valueOf(input);
      } catch {
        input.setCustomValidity(texts.not_json);
        input.reportValidity();
        return null;
      }
    }
    return args;
  };

  const fill = (form, args) => {
    for (const input of form.querySelectorAll("[data-type]")) {
      const value = args[input.name];
      if (value === undefined) input.value = "";
      else if (input.tagName === "SELECT") input.value = JSON.stringify(value);
      else if (input.dataset.type.endsWith("lines") && Array.isArray(value)) input.value = value.join("\n");
      else input.value = typeof value === "string" ? value : JSON.stringify(value);
    }
  };

  return { fieldsOf, argumentsOf, fill };
})();
